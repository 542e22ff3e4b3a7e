#include "solo/edge/mounts.hpp"

#include <sys/mount.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <functional>

#include "solo/edge/fd.hpp"
#include "solo/edge/files.hpp"

namespace berth::solo {
namespace {

/// mountinfo writes space, tab, newline and backslash as \ooo.
std::string unescaped(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool is_escape = text[i] == '\\' && i + 3 < text.size();
        if (!is_escape) {
            out += text[i];
            continue;
        }
        out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
        i += 3;
    }
    return out;
}

std::vector<std::string_view> fields_of(std::string_view line) {
    std::vector<std::string_view> out;
    while (!line.empty()) {
        const std::size_t space = std::min(line.find(' '), line.size());
        if (space > 0) out.push_back(line.substr(0, space));
        line.remove_prefix(std::min(space + 1, line.size()));
    }
    return out;
}

int number(std::string_view text) {
    int out = 0;
    std::from_chars(text.data(), text.data() + text.size(), out);
    return out;
}

bool is_below(std::string_view path, std::string_view top) {
    return path == top || (path.starts_with(top) && path.size() > top.size() && path[top.size()] == '/');
}

}  // namespace

std::vector<MountPoint> parse_mounts(std::string_view mountinfo) {
    std::vector<MountPoint> out;
    while (!mountinfo.empty()) {
        const std::size_t end = std::min(mountinfo.find('\n'), mountinfo.size());
        const std::vector<std::string_view> fields = fields_of(mountinfo.substr(0, end));
        mountinfo.remove_prefix(std::min(end + 1, mountinfo.size()));
        if (fields.size() < 9) continue;
        MountPoint mount{
            .id = number(fields[0]),
            .parent = number(fields[1]),
            .device = std::string(fields[2]),
            .root = unescaped(fields[3]),
            .path = unescaped(fields[4])
        };
        std::size_t at = 6;
        for (; at < fields.size() && fields[at] != "-"; ++at) {
            if (fields[at].starts_with("shared:")) mount.peer_group = number(fields[at].substr(7));
        }
        if (at + 1 < fields.size()) mount.fs_type = fields[at + 1];
        if (at + 2 < fields.size()) mount.source = unescaped(fields[at + 2]);
        out.push_back(std::move(mount));
    }
    return out;
}

Result<std::vector<MountPoint>> read_mounts() {
    TRY(const std::string text, read_file("/proc/self/mountinfo"));
    return parse_mounts(text);
}

const MountPoint* mount_at(const std::vector<MountPoint>& mounts, std::string_view path) {
    const MountPoint* top = nullptr;
    for (const MountPoint& mount : mounts) {
        if (mount.path == path) top = &mount;
    }
    return top;
}

std::vector<std::string> hybrid_cgroup2_mounts(const std::vector<MountPoint>& mounts) {
    std::vector<std::string> out;
    const bool has_v1 = std::ranges::any_of(mounts, [](const MountPoint& mount) { return mount.fs_type == "cgroup"; });
    if (!has_v1) return out;
    for (const MountPoint& mount : mounts) {
        if (mount.fs_type == "cgroup2" && is_below(mount.path, "/sys/fs/cgroup")) out.push_back(mount.path);
    }
    return out;
}

Result<void> make_own_peer_group(const std::string& path) {
    TRY(const std::vector<MountPoint> mounts, read_mounts());
    const MountPoint* mount = mount_at(mounts, path);
    if (mount == nullptr && ::mount(path.c_str(), path.c_str(), nullptr, MS_BIND, nullptr) != 0) {
        return fail_errno("bind \"" + path + "\" on itself", errno);
    }
    if (mount != nullptr && mount->peer_group != 0) {
        const auto shares = [&](const MountPoint& other) {
            return other.id != mount->id && other.peer_group == mount->peer_group;
        };
        if (std::ranges::none_of(mounts, shares)) return {};
    }
    if (::mount(nullptr, path.c_str(), nullptr, MS_PRIVATE, nullptr) != 0)
        return fail_errno("make \"" + path + "\" private", errno);
    if (::mount(nullptr, path.c_str(), nullptr, MS_SHARED, nullptr) != 0)
        return fail_errno("make \"" + path + "\" shared", errno);
    return {};
}

Result<void> mount_tmpfs(const std::string& path, const std::string& options) {
    TRY(const std::vector<MountPoint> mounts, read_mounts());
    if (mount_at(mounts, path) != nullptr) return {};
    if (::mount("tmpfs", path.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) != 0) {
        return fail_errno("mount a tmpfs on \"" + path + "\"", errno);
    }
    return {};
}

Result<void> mount_overlay(
    const std::vector<std::string>& lower, const std::string& upper, const std::string& work, const std::string& path
) {
    std::string options = "lowerdir=";
    for (std::size_t i = 0; i < lower.size(); ++i) {
        if (lower[i].find_first_of(":,\\") != std::string::npos) {
            return fail(
                ErrorKind::invalid,
                "overlay of \"" + lower[i] +
                    "\": a path with ':', ',' or '\\' cannot be used; choose another data directory"
            );
        }
        options += (i > 0 ? ":" : "") + lower[i];
    }
    if (!upper.empty()) options += ",upperdir=" + upper + ",workdir=" + work;
    const unsigned long flags = upper.empty() ? MS_RDONLY : 0;
    if (::mount("berth", path.c_str(), "overlay", flags, options.c_str()) != 0) {
        return fail_errno("mount an overlay on \"" + path + "\"", errno);
    }
    return {};
}

Result<void> unmount(const std::string& path) {
    if (::umount2(path.c_str(), UMOUNT_NOFOLLOW) == 0) return {};
    if (errno == EINVAL || errno == ENOENT) return {};
    if (errno == EBUSY)
        return fail(
            ErrorKind::conflict, "unmount \"" + path + "\": in use; end the processes that have files of it open"
        );
    return fail_errno("unmount \"" + path + "\"", errno);
}

Result<void> unmount_below(const std::string& path) {
    TRY(std::vector<MountPoint> mounts, read_mounts());
    std::erase_if(mounts, [&](const MountPoint& mount) { return !is_below(mount.path, path); });
    // Deepest first; of those on one path, the one that came last is on top. Their ids grow with time.
    std::ranges::sort(mounts, std::greater{}, [](const MountPoint& mount) {
        return std::pair(std::ranges::count(mount.path, '/'), mount.id);
    });
    for (const MountPoint& mount : mounts) TRY_DO(unmount(mount.path));
    return {};
}

}  // namespace berth::solo
