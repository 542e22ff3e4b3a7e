// Makes the files behind a machine's disks, each once. Blocks; runs off the loop.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "launcher/plan/disks.hpp"

namespace berth::launcher {

/// Files that somebody else brings and that are not there yet: container disks, claims. Quick.
std::vector<std::string> missing_files(const std::vector<MachineDisk>& disks);

struct Prepared {
    std::set<std::string> without_direct_io;
};

/// Idempotent: a file that is there stays as it is.
/// Errors  io, invalid: with the disk's name
Result<Prepared> prepare(const std::vector<MachineDisk>& disks);

}  // namespace berth::launcher
