// Files as this layer needs them: durable small writes, and removal that never leaves its directory.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace berth::solo {

/// The content of a regular file. Errors  not_found; invalid: larger than 16 MiB; io
Result<std::string> read_file(const std::string& path);

/// Replaces a file so that after a crash it has the old or the whole new content (temp, fsync, rename, fsync of the
/// folder).
Result<void> write_durably(const std::string& path, std::string_view content, mode_t mode);

/// Writes a file without asking the disk; for what is made anew after a crash.
Result<void> write_plain(const std::string& path, std::string_view content, mode_t mode);

/// Makes a directory and those above it. `mode` is for the last one and is set whatever the umask.
Result<void> make_dirs(const std::string& path, mode_t mode);

/// Makes or replaces a symbolic link in one step.
Result<void> replace_link(const std::string& target, const std::string& path);

/// Names in a directory, sorted; none when it is not there.
std::vector<std::string> list_dir(const std::string& path);

bool exists(const std::string& path);

/// Removes a file or a whole tree; nothing there is a success. Follows no link and enters no mount, so that a bind
/// mount that was forgotten cannot cost anybody's data. Errors  conflict: a mount is in the way; io
Result<void> remove_tree(const std::string& path);

/// The same for an entry of an open directory.
Result<void> remove_tree_at(int dir, const std::string& name);

/// Copies a file's content from one descriptor to an empty one: as a clone where the file system can, else its data
/// without its holes. The position of both is left anywhere.
Result<void> copy_content(int from, int to);

/// Hands a tree to a group: every entry gets the group, folders the set-group-id bit. Does nothing when the root has
/// it all already. Follows no link and enters no mount.
Result<void> give_to_group(const std::string& path, gid_t group);

/// A name that is one path component: not empty, no slash, no leading dot.
bool is_plain_name(std::string_view name);

}  // namespace berth::solo
