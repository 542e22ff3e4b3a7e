// A disk that QEMU has and libvirt does not know: a libvirtd that is killed between QEMU's answer and its own record
// leaves one, and from then on refuses the disk as a duplicate. Inside this folder only; it blocks.
#pragma once

#include <string>
#include <vector>

#include <libvirt/libvirt.h>

#include "base/result.hpp"

namespace berth::launcher {

/// Whether an attach failed because QEMU has a device or a block node of that name already.
bool is_duplicate(const Error& error);

/// Asks QEMU itself to take out the device and what it opened for the file. Only for a disk that libvirt does not show.
/// A virtio disk goes when its guest lets it: then this is called again after the next attempt.
void remove_stray_disk(virDomainPtr domain, const std::string& alias, const std::string& path);

/// The same for every plugged disk that QEMU has and libvirt does not show: nobody would ask for it again. One that is
/// wanted is attached afterwards, as every wanted disk. To be called with each connection, which is when one can be
/// found. Returns the names of those that are still there; a virtio disk takes as long as its guest.
std::vector<std::string> remove_stray_disks(virDomainPtr domain);

}  // namespace berth::launcher
