#include "solo/edge/clean_up.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "solo/edge/cgroups.hpp"
#include "solo/edge/conmon.hpp"
#include "solo/edge/container_record.hpp"
#include "solo/edge/data_dir.hpp"
#include "solo/edge/files.hpp"
#include "solo/edge/loop_device.hpp"
#include "solo/edge/mounts.hpp"
#include "solo/edge/process.hpp"

namespace berth::solo {
namespace {

constexpr Duration kKillMax = std::chrono::seconds(30);

/// Is this the mount that DataDir made, and not a disk that somebody mounted there?
bool is_self_bind(const std::vector<MountPoint>& mounts, const MountPoint& mount) {
    const auto parent = std::ranges::find(mounts, mount.parent, &MountPoint::id);
    if (parent == mounts.end()) return false;
    const std::string inside = parent->path == "/" ? mount.path : mount.path.substr(parent->path.size());
    return mount.root == (parent->root == "/" ? "" : parent->root) + (inside.empty() ? "/" : inside);
}

std::vector<ContainerRecord> running_in(const DataPaths& paths) {
    std::vector<ContainerRecord> out;
    for (const std::string& node : list_dir(paths.nodes())) {
        for (ContainerRecord& record : read_records(paths.node(NodeName{node}))) {
            if (record.stage == Stage::started && is_alive(record.process)) out.push_back(std::move(record));
        }
    }
    return out;
}

/// Waits for all of them; one time limit for the lot.
void wait_for_all(const std::vector<ContainerRecord>& records, Duration grace) {
    const Fd timer(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
    itimerspec limit{};
    limit.it_value.tv_sec = std::chrono::duration_cast<std::chrono::seconds>(grace).count();
    limit.it_value.tv_nsec = (grace % std::chrono::seconds(1)).count() * 1000;
    if (grace.count() <= 0 || ::timerfd_settime(timer.get(), 0, &limit, nullptr) != 0) return;
    for (const ContainerRecord& record : records) {
        const Fd process = open_process(record.process);
        pollfd ready[] = {
            {.fd = process.get(), .events = POLLIN, .revents = 0},
            {.fd = timer.get(),   .events = POLLIN, .revents = 0}
        };
        while (process.is_open() && ::poll(ready, 2, -1) < 0 && errno == EINTR) {
        }
        if (ready[1].revents != 0) return;
    }
}

/// Ends all containers: asked first, then through the runtime, then by their control group.
void end_containers(const DataPaths& paths, Duration grace) {
    const Result<Conmon> conmon = Conmon::find(paths);
    const std::vector<ContainerRecord> running = running_in(paths);
    for (const ContainerRecord& record : running) {
        if (conmon) static_cast<void>(conmon->signal(record.id, "TERM"));
    }
    wait_for_all(running, grace);
    for (const std::string& node : list_dir(paths.nodes())) {
        const NodeDir dir = paths.node(NodeName{node});
        for (const ContainerRecord& record : read_records(dir)) {
            if (conmon) static_cast<void>(conmon->end(container_dir_of(dir, record), record.stage));
        }
    }
    for (const int pid : cgroup_processes(paths.cgroup())) {
        const ProcessMark mark = process_mark(pid);
        ::kill(pid, SIGKILL);
        static_cast<void>(wait_for_end(mark, kKillMax));
    }
}

}  // namespace

Result<void> clean_up(const std::string& path, Duration grace) {
    if (!exists(path)) return {};
    TRY(const DataPaths paths, find_data_dir(path));
    TRY(const Fd held, lock_data_dir(paths));
    end_containers(paths, grace);
    for (const std::string& node : list_dir(paths.nodes())) TRY_DO(unmount_below(paths.nodes() + "/" + node));
    TRY_DO(detach_loops_below(paths.path));
    TRY_DO(remove_cgroup(paths.cgroup()));
    TRY(const std::vector<MountPoint> mounts, read_mounts());
    const MountPoint* own = mount_at(mounts, paths.path);
    if (own == nullptr || !is_self_bind(mounts, *own)) return {};
    // The lock file and the shell of whoever asked may be inside: the mount leaves the tree now, and ends with them.
    if (::umount2(paths.path.c_str(), MNT_DETACH) != 0) return fail_errno("unmount \"" + paths.path + "\"", errno);
    return {};
}

Result<void> purge(const std::string& path, Duration grace) {
    TRY_DO(clean_up(path, grace));
    if (!exists(path)) return {};
    TRY(const DataPaths paths, find_data_dir(path));
    for (const std::string& own :
         {paths.nodes(),
          paths.image_cache(),
          paths.layer(),
          paths.capabilities(),
          paths.programs(),
          paths.crun_state(),
          paths.sockets(),
          paths.path + "/lock"}) {
        TRY_DO(remove_tree(own));
    }
    return {};
}

}  // namespace berth::solo
