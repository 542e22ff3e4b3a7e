#include "solo/edge/data_dir.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>

#include "base/hash.hpp"
#include "solo/edge/files.hpp"
#include "solo/edge/mounts.hpp"
#include "solo/edge/oci_spec.hpp"

namespace berth::solo {
namespace {

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
    for (const std::string& shared :
         {paths.images(), paths.capabilities(), paths.layer() + "/bin", paths.layer() + std::string(kCapabilitiesInUsr)
         })
        TRY_DO(make_dirs(shared, 0755));
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

}  // namespace

std::string DataPaths::cgroup() const { return "/berth-" + short_hash(path); }

Result<DataPaths> find_data_dir(const std::string& path) {
    std::array<char, PATH_MAX> buffer{};
    if (::realpath(path.c_str(), buffer.data()) == nullptr) return fail_errno("data directory \"" + path + "\"", errno);
    return DataPaths{buffer.data()};
}

Result<Fd> lock_data_dir(const DataPaths& paths) {
    const std::string file = paths.path + "/lock";
    Fd held(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!held.is_open()) return fail_errno("open \"" + file + "\"", errno);
    if (::flock(held.get(), LOCK_EX | LOCK_NB) != 0) {
        const std::string owner = read_file(file).value_or("");
        return fail(
            ErrorKind::conflict,
            "data directory \"" + paths.path + "\" is in use" + (owner.empty() ? "" : " by process " + owner) +
                ": stop that one, or choose another directory with --data-dir"
        );
    }
    const std::string self = std::to_string(::getpid());
    if (::ftruncate(held.get(), 0) != 0 || ::pwrite(held.get(), self.data(), self.size(), 0) < 0) {
        return fail_errno("write \"" + file + "\"", errno);
    }
    return held;
}

Result<DataDir> DataDir::open(const std::string& path, const std::string& program) {
    if (::geteuid() != 0)
        return fail(
            ErrorKind::forbidden, "berth up needs root to mount volumes and start containers: run it with sudo"
        );
    if (!exists(path)) TRY_DO(make_dirs(path, 0711));  // one that is there keeps its mode: it may be more than ours
    DataDir out;
    TRY(out.paths_, find_data_dir(path));
    TRY(out.lock_, lock_data_dir(out.paths_));
    TRY_DO(make_own_peer_group(out.paths_.path));
    TRY_DO(make_layout(out.paths_));
    TRY(out.program_, place_program(program, out.paths_.programs()));
    return out;
}

}  // namespace berth::solo
