// The root file system of a container, laid out in its directory.
#pragma once

#include <string>

#include "base/result.hpp"
#include "solo/edge/oci_spec.hpp"

namespace berth::solo {

/// Lays out `rootfs` for an image and mounts what it needs below it; leftovers of an earlier try are replaced.
/// Once the runtime has created the container it has its own copy of these mounts: unmount them then.
///
/// layer    folder whose bin/ has the empty files over which programs are bound
/// scratch  folder for what the container writes, and for files bound into it
/// Errors   io, forbidden
Result<void> make_rootfs(
    const Image& image,
    const std::string& layer,
    const std::string& rootfs,
    const std::string& scratch,
    const std::string& hostname
);

}  // namespace berth::solo
