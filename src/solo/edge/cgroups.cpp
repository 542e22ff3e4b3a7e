#include "solo/edge/cgroups.hpp"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>
#include <sstream>

#include "solo/edge/fd.hpp"
#include "solo/edge/files.hpp"
#include "solo/edge/mounts.hpp"

namespace berth::solo {
namespace {

/// Groups below `path`, deepest first, `path` last.
void collect(const std::string& path, std::vector<std::string>& out) {
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(path.c_str()), ::closedir);
    if (!stream) return;
    while (const dirent* entry = ::readdir(stream.get())) {
        const std::string name = entry->d_name;
        if (entry->d_type == DT_DIR && name != "." && name != "..") collect(path + "/" + name, out);
    }
    out.push_back(path);
}

std::vector<std::string> groups_of(const std::string& group) {
    std::vector<std::string> out;
    for (const std::string& hierarchy : cgroup_hierarchies()) collect(hierarchy + group, out);
    return out;
}

}  // namespace

std::vector<std::string> cgroup_hierarchies() {
    std::vector<std::string> out;
    const Result<std::vector<MountPoint>> mounts = read_mounts();
    if (!mounts) return out;
    for (const MountPoint& mount : *mounts) {
        if (mount.fs_type == "cgroup" || mount.fs_type == "cgroup2") out.push_back(mount.path);
    }
    return out;
}

std::vector<int> cgroup_processes(const std::string& group) {
    std::set<int> found;
    for (const std::string& path : groups_of(group)) {
        const Result<std::string> text = read_file(path + "/cgroup.procs");
        if (!text) continue;
        std::istringstream lines(*text);
        for (int pid = 0; lines >> pid;) found.insert(pid);
    }
    return {found.begin(), found.end()};
}

Result<void> remove_cgroup(const std::string& group) {
    for (const std::string& path : groups_of(group)) {
        if (::rmdir(path.c_str()) == 0 || errno == ENOENT) continue;
        if (errno == EBUSY)
            return fail(
                ErrorKind::conflict, "remove cgroup \"" + path + "\": processes still run in it; end them first"
            );
        return fail_errno("remove cgroup \"" + path + "\"", errno);
    }
    return {};
}

}  // namespace berth::solo
