#include "node/edge/plug_source.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "solo/edge/fd.hpp"
#include "solo/edge/files.hpp"

namespace berth::node {
namespace {

using solo::fail_errno;
using solo::MountPoint;

constexpr const char* kPlugFolder = "/volumes/kubernetes.io~empty-dir/hotplug-disks";

Fd open_beneath(int dir, const std::string& path, std::uint64_t flags, std::uint64_t resolve) {
    open_how how{};
    how.flags = flags | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve;
    return Fd(static_cast<int>(::syscall(SYS_openat2, dir, path.c_str(), &how, sizeof how)));
}

/// The process that listens in the attachment pod. The socket lies in a folder that the pod may write to: it is opened
/// without following links, and its owner must belong to the pod.
Result<int> process_of(const Fd& folder, const Uid& pod) {
    const Fd file = open_beneath(folder.get(), "hp.sock", O_PATH, RESOLVE_NO_SYMLINKS);
    if (!file.is_open()) return fail(ErrorKind::unavailable, "the attachment pod does not listen yet");
    const Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    // A pod's folder may lie deeper than the 107 bytes that an address has.
    const std::string path = "/proc/self/fd/" + std::to_string(file.get());
    std::memcpy(address.sun_path, path.c_str(), path.size());
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        if (errno == ECONNREFUSED || errno == EAGAIN)
            return fail(ErrorKind::unavailable, "the attachment pod does not listen yet");
        return fail_errno("connect to the attachment pod", errno);
    }
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return fail_errno("ask for the attachment pod's process", errno);
    const std::string groups = solo::read_file("/proc/" + std::to_string(peer.pid) + "/cgroup").value_or("");
    std::string underscored = pod.value;  // as systemd slices write it
    std::ranges::replace(underscored, '-', '_');
    if (!groups.contains(pod.value) && !groups.contains(underscored))
        return fail(ErrorKind::forbidden, "the process that answers for attachment pod " + pod.value + " is not of it");
    return peer.pid;
}

bool is_below(std::string_view path, std::string_view top) {
    return path == top || top == "/" || (path.starts_with(top) && path.size() > top.size() && path[top.size()] == '/');
}

std::string joined(std::string path, std::string_view rest) {
    while (rest.starts_with('/')) rest.remove_prefix(1);
    if (rest.empty()) return path;
    return (path == "/" ? path : path + "/") + std::string(rest);
}

/// The claim's top folder, in our own mount namespace.
Result<Fd> open_claim(const std::string& pods, const Plug& plug, int process) {
    const std::string proc = "/proc/" + std::to_string(process);
    TRY(const std::string table, solo::read_file(proc + "/mountinfo"));
    const std::vector<MountPoint> theirs = solo::parse_mounts(table);
    const MountPoint* const there = solo::mount_at(theirs, "/hotplug/" + plug.volume);
    if (there == nullptr)
        return fail(ErrorKind::unavailable, "the attachment pod does not show volume " + plug.volume + " yet");
    struct stat wanted{};
    if (::stat((proc + "/root/hotplug/" + plug.volume).c_str(), &wanted) != 0)
        return fail_errno("look at volume " + plug.volume + " in its attachment pod", errno);
    TRY(const std::vector<MountPoint> own, solo::read_mounts());
    for (const std::string& path : host_paths(own, *there, pods, plug.attachment_pod)) {
        Fd found(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
        struct stat status{};
        // Another mount may cover it: it must be the very folder that the pod has.
        if (!found.is_open() || ::fstat(found.get(), &status) != 0) continue;
        if (status.st_dev == wanted.st_dev && status.st_ino == wanted.st_ino) return found;
    }
    return fail(
        ErrorKind::io,
        "volume " + plug.volume + ": the folder of its claim is not to be seen from the node; is it mounted in the " +
            "attachment pod alone?"
    );
}

Result<PlugSource> find_image(const std::string& pods, const Plug& plug, const Fd& folder) {
    TRY(const int process, process_of(folder, plug.attachment_pod));
    TRY(const Fd claim, open_claim(pods, plug, process));
    PlugSource out{.file = open_beneath(claim.get(), "disk.img", O_PATH, 0)};
    if (!out.file.is_open() && errno == ENOENT) {
        return fail(
            ErrorKind::not_found,
            "volume " + plug.volume + ": its claim holds no disk.img; fill it with a DataVolume or put the file there"
        );
    }
    if (!out.file.is_open()) return fail_errno("open disk.img of volume " + plug.volume, errno);
    struct stat status{};
    if (::fstat(out.file.get(), &status) != 0) return fail_errno("stat disk.img of volume " + plug.volume, errno);
    if (!S_ISREG(status.st_mode))
        return fail(ErrorKind::io, "volume " + plug.volume + ": disk.img of its claim is not a file");
    out.device = status.st_dev;
    out.inode = status.st_ino;
    return out;
}

Result<PlugSource> find_device(const Plug& plug, const Fd& folder) {
    const std::string path = plug.volume + "/" + plug.claim.value;
    const Fd node = open_beneath(folder.get(), path, O_PATH | O_NOFOLLOW, RESOLVE_NO_SYMLINKS);
    struct stat status{};
    if (!node.is_open() || ::fstat(node.get(), &status) != 0)
        return fail(ErrorKind::unavailable, "the attachment pod does not show volume " + plug.volume + " yet");
    if (!S_ISBLK(status.st_mode))
        return fail(ErrorKind::io, "volume " + plug.volume + ": what its attachment pod shows is no block device");
    PlugSource out;
    out.device = status.st_rdev;
    out.mode = status.st_mode & 0777;
    return out;
}

}  // namespace

std::vector<std::string> host_paths(
    const std::vector<MountPoint>& own, const MountPoint& there, const std::string& pods, const Uid& pod
) {
    std::vector<const MountPoint*> found;
    for (const MountPoint& mount : own) {
        if (mount.device != there.device || !is_below(there.root, mount.root)) continue;
        const bool is_of_another_pod =
            is_below(mount.path, pods) && !is_below(mount.path, pods + "/" + pod.value) && mount.path != pods;
        // The same export of a server may be mounted from different paths of it.
        const bool is_another_share = mount.fs_type.starts_with("nfs") && mount.source != there.source;
        if (!is_of_another_pod && !is_another_share) found.push_back(&mount);
    }
    std::ranges::sort(found, std::ranges::greater(), [](const MountPoint* mount) {
        return std::pair(mount->root.size(), mount->id);
    });
    std::vector<std::string> out;
    for (const MountPoint* mount : found) {
        const std::string rest = mount->root == "/" ? there.root : there.root.substr(mount->root.size());
        out.push_back(joined(mount->path, rest));
    }
    return out;
}

Result<Fd> open_pod_folder(const std::string& pods, const Uid& pod) {
    const Fd top(::open(pods.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!top.is_open()) return fail_errno("open \"" + pods + "\"", errno);
    Fd out = open_beneath(top.get(), pod.value + kPlugFolder, O_RDONLY | O_DIRECTORY, RESOLVE_NO_SYMLINKS);
    if (out.is_open()) return out;
    if (errno == ENOENT) return fail(ErrorKind::unavailable, "pod " + pod.value + " has no folder for plugged volumes");
    return fail_errno("open the folder for plugged volumes of pod " + pod.value, errno);
}

Result<PlugSource> find_source(const std::string& pods, const Plug& plug) {
    TRY(const Fd folder, open_pod_folder(pods, plug.attachment_pod));
    return plug.block ? find_device(plug, folder) : find_image(pods, plug, folder);
}

}  // namespace berth::node
