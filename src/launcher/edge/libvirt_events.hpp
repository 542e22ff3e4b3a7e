// libvirt's event loop, on a thread of its own. It must run before the first connection is opened.
#pragma once

namespace berth::launcher {

/// Starts it once per process; it runs until the process ends.
void start_libvirt_events();

}  // namespace berth::launcher
