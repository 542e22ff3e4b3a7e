#include "solo/edge/pod_dir.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "solo/edge/cgroups.hpp"
#include "solo/edge/files.hpp"
#include "solo/edge/mounts.hpp"

namespace berth::solo {
namespace {

Result<void> check_names(const Uid& pod, const std::string& volume) {
    if (!is_plain_name(pod.value)) return fail(ErrorKind::invalid, "pod \"" + pod.value + "\": not a UID");
    if (!is_plain_name(volume)) return fail(ErrorKind::invalid, "volume \"" + volume + "\": not a name");
    return {};
}

std::string describe(mode_t mode) {
    switch (mode & S_IFMT) {
        case S_IFDIR: return "Directory";
        case S_IFREG: return "File";
        case S_IFSOCK: return "Socket";
        case S_IFCHR: return "CharDevice";
        case S_IFBLK: return "BlockDevice";
        default: return "something else";
    }
}

/// A key of a configMap may name folders, but not leave the volume.
bool stays_inside(const std::string& name) {
    const std::string walled = "/" + name + "/";
    return !name.empty() && name.front() != '/' && walled.find("/../") == std::string::npos &&
           walled.find("//") == std::string::npos;
}

Result<void> give(const std::string& path, const std::optional<std::int64_t>& fs_group) {
    if (!fs_group) return {};
    return give_to_group(path, static_cast<gid_t>(*fs_group));
}

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

}  // namespace

Result<std::string> make_pod_folder(const NodeDir& node, const Uid& pod) {
    TRY_DO(check_names(pod, "volume"));
    const std::string path = node.pod(pod);
    for (const char* folder : {"", "/volumes", "/containers", "/logs"}) TRY_DO(make_dirs(path + folder, 0711));
    return path;
}

Result<std::string> make_empty_folder(const NodeDir& node, const Uid& pod, const EmptyDirWish& wish) {
    TRY_DO(check_names(pod, wish.volume));
    const std::string path = node.pod(pod) + "/volumes/kubernetes.io~empty-dir/" + wish.volume;
    TRY_DO(make_dirs(path, 0777));
    if (wish.in_memory) TRY_DO(mount_tmpfs(path, "mode=0777"));
    if (wish.propagates) TRY_DO(make_own_peer_group(path));
    TRY_DO(give(path, wish.fs_group));
    return path;
}

Result<std::string> write_folder(const NodeDir& node, const Uid& pod, const FilesWish& wish) {
    TRY_DO(check_names(pod, wish.volume));
    const std::string path = node.pod(pod) + "/volumes/kubernetes.io~projected/" + wish.volume;
    TRY_DO(make_dirs(path, 0755));
    std::map<std::string, bool> kept;  // first components
    for (const auto& [name, content] : wish.files) {
        if (!stays_inside(name))
            return fail(ErrorKind::invalid, "volume \"" + wish.volume + "\": \"" + name + "\" is not a path below it");
        kept[name.substr(0, name.find('/'))] = true;
        const std::string file = path + "/" + name;
        if (read_file(file).value_or("") == content && exists(file)) continue;
        TRY_DO(make_dirs(folder_of(file), 0755));
        TRY_DO(write_durably(file, content, static_cast<mode_t>(wish.mode) & 0777));
    }
    for (const std::string& name : list_dir(path)) {
        if (!kept.contains(name)) TRY_DO(remove_tree(path + "/" + name));
    }
    for (const auto& [name, content] : wish.files) {
        if (!wish.fs_group) break;
        const std::string file = path + "/" + name;
        const auto group = static_cast<gid_t>(*wish.fs_group);
        if (::chown(file.c_str(), static_cast<uid_t>(-1), group) != 0)
            return fail_errno("chown \"" + file + "\"", errno);
        if (::chmod(file.c_str(), (static_cast<mode_t>(wish.mode) & 0777) | S_IRGRP) != 0)
            return fail_errno("chmod \"" + file + "\"", errno);
    }
    return path;
}

Result<std::string> check_path(const std::string& path, const std::string& type) {
    if (!path.starts_with("/")) return fail(ErrorKind::invalid, "path \"" + path + "\" is not absolute");
    struct stat status{};
    const bool is_there = ::stat(path.c_str(), &status) == 0;
    if (!is_there && errno != ENOENT) return fail_errno("path \"" + path + "\"", errno);
    if (!is_there && type == "DirectoryOrCreate") {
        TRY_DO(make_dirs(path, 0755));
        return path;
    }
    if (!is_there && type == "FileOrCreate") {
        TRY_DO(write_plain(path, "", 0644));
        return path;
    }
    if (!is_there)
        return fail(ErrorKind::not_found, "path \"" + path + "\" is not on this node: make it, or use another node");
    const std::string wanted = type.ends_with("OrCreate") ? type.substr(0, type.size() - 8) : type;
    const std::string found = describe(status.st_mode);
    if (!wanted.empty() && wanted != found) {
        return fail(
            ErrorKind::invalid, "path \"" + path + "\" is " + found + ", not " + wanted + ": correct the volume's type"
        );
    }
    return path;
}

Result<void> remove_pod_folder(const NodeDir& node, const Uid& pod, const std::string& cgroup) {
    TRY_DO(check_names(pod, "volume"));
    TRY_DO(remove_cgroup(cgroup + "/" + pod.value));
    TRY_DO(unmount_below(node.pod(pod)));
    return remove_tree(node.pod(pod));
}

}  // namespace berth::solo
