// Persistent volumes on a node: "<name>" is a folder, "<name>.img" a sparse file behind a loop device, "<name>.dev" the
// link to it that stays good over restarts. Blocking calls.
#pragma once

#include <string>

#include "base/result.hpp"
#include "base/text.hpp"

namespace berth::solo {

/// Makes a volume in `folder` and returns the path for its pods: the folder, or the ".dev" link. Idempotent.
/// A folder's size is not enforced. Errors  invalid: not a name; io
Result<std::string> make_local_volume(const std::string& folder, const std::string& name, Bytes size, bool block);

/// Removes it with its data; not there is a success. Errors  conflict: its device is still open
Result<void> delete_local_volume(const std::string& folder, const std::string& name);

/// Makes a block volume at least `size` long, and its device too. A folder needs nothing.
Result<void> grow_local_volume(const std::string& folder, const std::string& name, Bytes size);

/// Attaches devices again that a restart of the machine took, and finishes deletions that were cut short.
Result<void> restore_local_volumes(const std::string& folder);

}  // namespace berth::solo
