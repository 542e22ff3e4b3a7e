#include "solo/edge/local_volumes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "solo/edge/fd.hpp"
#include "solo/edge/files.hpp"
#include "solo/edge/loop_device.hpp"

namespace berth::solo {
namespace {

constexpr uid_t kQemuUser = 107;
constexpr std::int64_t kBlock = 4096;
constexpr std::string_view kFileEnding = ".img";
constexpr std::string_view kLinkEnding = ".dev";
constexpr std::string_view kDeletedPrefix = ".deleted-";

std::string file_of(const std::string& folder, const std::string& name) {
    return folder + "/" + name + std::string(kFileEnding);
}
std::string link_of(const std::string& folder, const std::string& name) {
    return folder + "/" + name + std::string(kLinkEnding);
}

Result<void> check_name(const std::string& name) {
    if (is_plain_name(name) && !name.ends_with(kFileEnding) && !name.ends_with(kLinkEnding)) return {};
    return fail(ErrorKind::invalid, "volume \"" + name + "\": not a name");
}

/// The file, at least `size` long. It never gets shorter: what is in it is somebody's data.
Result<void> make_file(const std::string& path, Bytes size) {
    const Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file.is_open()) return fail_errno("open \"" + path + "\"", errno);
    const std::int64_t wanted = (size.value + kBlock - 1) / kBlock * kBlock;
    struct stat status{};
    if (::fstat(file.get(), &status) != 0) return fail_errno("stat \"" + path + "\"", errno);
    if (status.st_size < wanted && ::ftruncate(file.get(), wanted) != 0) {
        return fail_errno("make \"" + path + "\" " + std::to_string(wanted) + " bytes long", errno);
    }
    if (::fsync(file.get()) != 0) return fail_errno("sync \"" + path + "\"", errno);
    return {};
}

Result<std::string> attach(const std::string& folder, const std::string& name) {
    TRY(const std::string device, attach_loop(file_of(folder, name)));
    TRY_DO(replace_link(device, link_of(folder, name)));
    return link_of(folder, name);
}

Result<void> sync_folder(const std::string& folder) {
    const Fd dir(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!dir.is_open() || ::fsync(dir.get()) != 0) return fail_errno("sync \"" + folder + "\"", errno);
    return {};
}

}  // namespace

Result<std::string> make_local_volume(const std::string& folder, const std::string& name, Bytes size, bool block) {
    TRY_DO(check_name(name));
    TRY_DO(make_dirs(folder, 0711));
    if (block) {
        TRY_DO(make_file(file_of(folder, name), size));
        TRY_DO(sync_folder(folder));
        return attach(folder, name);
    }
    const std::string path = folder + "/" + name;
    if (exists(path)) return path;
    // Made under another name: one that is there has its owner and mode.
    const std::string temp = folder + "/.new-" + name;
    TRY_DO(remove_tree(temp));
    TRY_DO(make_dirs(temp, 0777));
    // Pods come with users of their own; nobody else can reach below the data directory.
    if (::chown(temp.c_str(), kQemuUser, kQemuUser) != 0) return fail_errno("chown \"" + temp + "\"", errno);
    if (::chmod(temp.c_str(), 02777) != 0) return fail_errno("chmod \"" + temp + "\"", errno);
    if (::rename(temp.c_str(), path.c_str()) != 0) return fail_errno("rename to \"" + path + "\"", errno);
    TRY_DO(sync_folder(folder));
    return path;
}

Result<void> delete_local_volume(const std::string& folder, const std::string& name) {
    TRY_DO(check_name(name));
    TRY_DO(detach_loop(file_of(folder, name)));
    for (const std::string& path : {link_of(folder, name), file_of(folder, name)}) {
        if (::unlink(path.c_str()) != 0 && errno != ENOENT) return fail_errno("remove \"" + path + "\"", errno);
    }
    const std::string path = folder + "/" + name;
    const std::string doomed = folder + "/" + std::string(kDeletedPrefix) + name;
    // Renamed first: a volume of the same name that is made meanwhile starts empty.
    TRY_DO(remove_tree(doomed));
    if (::rename(path.c_str(), doomed.c_str()) != 0 && errno != ENOENT)
        return fail_errno("remove \"" + path + "\"", errno);
    return remove_tree(doomed);
}

Result<void> grow_local_volume(const std::string& folder, const std::string& name, Bytes size) {
    TRY_DO(check_name(name));
    if (exists(folder + "/" + name)) return {};
    const std::string file = file_of(folder, name);
    if (!exists(file)) return fail(ErrorKind::not_found, "volume \"" + name + "\" is not on this node");
    TRY_DO(make_file(file, size));
    TRY_DO(attach(folder, name));
    return resize_loop(file);
}

Result<void> restore_local_volumes(const std::string& folder) {
    std::string failed;
    for (const std::string& name : list_dir(folder)) {
        if (name.starts_with(kDeletedPrefix)) static_cast<void>(remove_tree(folder + "/" + name));
        if (name.starts_with(".") || !name.ends_with(kFileEnding)) continue;
        const Result<std::string> path = attach(folder, name.substr(0, name.size() - kFileEnding.size()));
        // One that fails must not keep the others away.
        if (!path) failed += (failed.empty() ? "" : "; ") + path.error().message;
    }
    if (!failed.empty()) return fail(ErrorKind::io, "restore volumes: " + failed);
    return {};
}

}  // namespace berth::solo
