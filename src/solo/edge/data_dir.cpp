#include "solo/edge/data_dir.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdlib>

#include "base/hash.hpp"
#include "solo/edge/cgroups.hpp"
#include "solo/edge/files.hpp"
#include "solo/edge/loop_device.hpp"
#include "solo/edge/mounts.hpp"
#include "solo/edge/oci_spec.hpp"
#include "solo/edge/process.hpp"

namespace berth::solo {
namespace {

constexpr Duration kRuntimeLimit = std::chrono::seconds(30);

Result<std::string> resolved(const std::string& path) {
    std::array<char, PATH_MAX> buffer{};
    if (::realpath(path.c_str(), buffer.data()) == nullptr) return fail_errno("data directory \"" + path + "\"", errno);
    return std::string(buffer.data());
}

Result<Fd> lock(const std::string& path) {
    const std::string file = path + "/lock";
    Fd held(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!held.is_open()) return fail_errno("open \"" + file + "\"", errno);
    if (::flock(held.get(), LOCK_EX | LOCK_NB) != 0) {
        const std::string owner = read_file(file).value_or("");
        return fail(
            ErrorKind::conflict,
            "data directory \"" + path + "\" is in use" + (owner.empty() ? "" : " by process " + owner) +
                ": stop that one, or choose another directory with --data-dir"
        );
    }
    const std::string self = std::to_string(::getpid());
    if (::ftruncate(held.get(), 0) != 0 || ::pwrite(held.get(), self.data(), self.size(), 0) < 0) {
        return fail_errno("write \"" + file + "\"", errno);
    }
    return held;
}

Result<void> copy_file(const std::string& from, const std::string& to) {
    const Fd source(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
    if (!source.is_open()) return fail_errno("open \"" + from + "\"", errno);
    const std::string temp = to + ".tmp";
    const Fd target(::open(temp.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755));
    if (!target.is_open()) return fail_errno("open \"" + temp + "\"", errno);
    if (const Result<void> done = copy_content(source.get(), target.get()); !done)
        return within("copy \"" + from + "\"", done.error());
    if (::fchmod(target.get(), 0755) != 0 || ::fdatasync(target.get()) != 0)
        return fail_errno("sync \"" + temp + "\"", errno);
    if (::rename(temp.c_str(), to.c_str()) != 0) return fail_errno("rename to \"" + to + "\"", errno);
    return {};
}

/// A copy under a name that tells versions apart: a running container keeps the program it was started with.
Result<std::string> place_program(const std::string& program, const std::string& folder) {
    if (program.empty()) return std::string();
    struct stat status{};
    if (::stat(program.c_str(), &status) != 0) return fail_errno("program \"" + program + "\"", errno);
    const std::string mark = std::to_string(status.st_dev) + "/" + std::to_string(status.st_ino) + "/" +
                             std::to_string(status.st_size) + "/" + std::to_string(status.st_mtim.tv_sec) + "." +
                             std::to_string(status.st_mtim.tv_nsec);
    const std::string name = "berth-" + short_hash(mark);
    struct stat there{};
    const bool is_there = ::stat((folder + "/" + name).c_str(), &there) == 0 && there.st_size == status.st_size;
    if (!is_there) TRY_DO(copy_file(program, folder + "/" + name));
    for (const std::string& other : list_dir(folder)) {
        if (other != name) ::unlink((folder + "/" + other).c_str());
    }
    return folder + "/" + name;
}

Result<void> make_layout(const DataPaths& paths) {
    for (const std::string& shared : {paths.images(), paths.layer() + "/bin"}) TRY_DO(make_dirs(shared, 0755));
    for (const std::string& own :
         {paths.nodes(), paths.image_cache(), paths.programs(), paths.crun_state(), paths.sockets()}) {
        TRY_DO(make_dirs(own, 0700));
    }
    for (const std::string_view name : kProgramNames) {
        const std::string path = paths.layer() + "/bin/" + std::string(name);
        if (!exists(path)) TRY_DO(write_plain(path, "", 0755));
    }
    return {};
}

/// Is this the mount that DataDir made, and not a disk that somebody mounted there?
bool is_self_bind(const std::vector<MountPoint>& mounts, const MountPoint& mount) {
    for (const MountPoint& parent : mounts) {
        if (parent.id != mount.parent) continue;
        const std::string inside =
            parent.path == "/" ? mount.path : mount.path.substr(std::min(parent.path.size(), mount.path.size()));
        return mount.root == (parent.root == "/" ? "" : parent.root) + (inside.empty() ? "/" : inside);
    }
    return false;
}

void end_containers(const DataPaths& paths) {
    const Result<std::string> crun = find_program({"crun"}, "crun");
    const Result<std::vector<MountPoint>> mounts = read_mounts();
    if (!crun || !mounts) return;
    for (const std::string& id : list_dir(paths.crun_state())) {
        const Command command{
            .argv = {*crun, "--root", paths.crun_state(), "delete", "--force", id},
            .hidden_mounts = hybrid_cgroup2_mounts(*mounts)
        };
        static_cast<void>(run(command, kRuntimeLimit));
    }
    for (const int pid : cgroup_processes(paths.cgroup())) {
        const ProcessMark mark = process_mark(pid);
        ::kill(pid, SIGKILL);
        static_cast<void>(wait_for_end(mark, kRuntimeLimit));
    }
}

}  // namespace

std::string DataPaths::cgroup() const { return "/berth-" + short_hash(path); }

Result<DataDir> DataDir::open(const std::string& path, const std::string& program) {
    if (::geteuid() != 0)
        return fail(
            ErrorKind::forbidden, "berth up needs root to mount volumes and start containers: run it with sudo"
        );
    TRY_DO(make_dirs(path, 0711));
    DataDir out;
    TRY(out.paths_.path, resolved(path));
    TRY(out.lock_, lock(out.paths_.path));
    TRY_DO(make_own_peer_group(out.paths_.path));
    TRY_DO(make_layout(out.paths_));
    TRY(out.program_, place_program(program, out.paths_.programs()));
    return out;
}

Result<void> clean_up(const std::string& path) {
    if (!exists(path)) return {};
    DataPaths paths;
    TRY(paths.path, resolved(path));
    TRY(const Fd held, lock(paths.path));
    end_containers(paths);
    TRY(const std::vector<MountPoint> mounts, read_mounts());
    for (const std::string& node : list_dir(paths.nodes())) TRY_DO(unmount_below(paths.nodes() + "/" + node));
    TRY_DO(detach_loops_below(paths.path));
    TRY_DO(remove_cgroup(paths.cgroup()));
    const MountPoint* own = mount_at(mounts, paths.path);
    if (own != nullptr && is_self_bind(mounts, *own)) {
        // The lock file and the shell of whoever asked may be inside: the mount leaves the tree now, and ends with
        // them.
        if (::umount2(paths.path.c_str(), MNT_DETACH) != 0) return fail_errno("unmount \"" + paths.path + "\"", errno);
    }
    return {};
}

Result<void> purge(const std::string& path) {
    TRY_DO(clean_up(path));
    if (!exists(path)) return {};
    TRY(const std::string real, resolved(path));
    const DataPaths paths{real};
    for (const std::string& folder :
         {paths.nodes(),
          paths.image_cache(),
          paths.layer(),
          paths.programs(),
          paths.crun_state(),
          paths.sockets(),
          real + "/lock"}) {
        TRY_DO(remove_tree(folder));
    }
    return {};
}

}  // namespace berth::solo
