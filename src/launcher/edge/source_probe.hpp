// What the pod shows of a disk's file or device. Blocks as long as the storage does.
#pragma once

#include <string>

#include "launcher/plan/plugs.hpp"

namespace berth::launcher {

SourceFacts probe_source(const MachineDisk& disk);

/// Whether the storage of a file takes O_DIRECT; a file that does not open is not blamed.
bool takes_direct_io(const std::string& path);

/// There, and no empty file: what is mounted over one has content.
bool has_content(const std::string& path);

}  // namespace berth::launcher
