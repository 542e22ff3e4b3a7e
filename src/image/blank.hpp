// A disk without content. Contract: docs/spec/datavolumes.md 3.6
#pragma once

#include "image/target.hpp"

namespace berth::image {

/// Creates the file at the size the claim is for; leaves a device alone, or writes zeros to it when asked to
/// preallocate.
Result<void> make_blank(const Job& job, Target& target);

}  // namespace berth::image
