#include "node/edge/linux_plugs.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/edge/device_rules.hpp"
#include "node/edge/plug_source.hpp"
#include "solo/edge/fd.hpp"
#include "solo/edge/files.hpp"

namespace berth::node {
namespace {

using solo::fail_errno;

constexpr uid_t kMachineUser = 107;

std::string file_of(const Plug& plug) { return plug.block ? plug.volume : plug.volume + ".img"; }

std::string path_of(const Fd& file) { return "/proc/self/fd/" + std::to_string(file.get()); }

std::unexpected<Error> fail_volume(const Plug& plug, const std::string& what, int number) {
    return fail_errno("volume " + plug.volume + ": " + what, number);
}

/// What lies under a name in the launcher's folder; none: nothing.
Result<std::optional<struct stat>> look_at(const Fd& folder, const Plug& plug) {
    struct stat status{};
    if (::fstatat(folder.get(), file_of(plug).c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) return status;
    if (errno == ENOENT) return std::nullopt;
    return fail_volume(plug, "look into the launcher's folder", errno);
}

std::unexpected<Error> replaced(const Plug& plug) {
    return fail(
        ErrorKind::io,
        "volume " + plug.volume + ": something else lies in its place in the launcher pod; it is not touched"
    );
}

std::unexpected<Error> taken(const Plug& plug) {
    return fail(ErrorKind::conflict, "volume " + plug.volume + ": an earlier plug of this name is still in place");
}

Result<void> own(const Fd& file, const Plug& plug) {
    struct stat status{};
    if (::fstat(file.get(), &status) != 0) return fail_volume(plug, "stat", errno);
    if (status.st_uid == kMachineUser && status.st_gid == kMachineUser) return {};
    if (::fchownat(file.get(), "", kMachineUser, kMachineUser, AT_EMPTY_PATH) != 0)
        return fail_volume(plug, "give it to user 107", errno);
    return {};
}

}  // namespace

/// The blocking half of one call.
class LinuxPlugs::Work {
public:
    Work(LinuxPlugs& all, PlugHost host)
        : dirs_(all.dirs_), act_(all.before_act_), boot_(all.boot_), records_(all.records_), host_(std::move(host)) {}

    Result<std::vector<Plug>> look() {
        TRY(PlugRecord record, locked([&] { return read(); }));
        const Mounts mounts = read_mounts();
        std::vector<Plug> out;
        for (const PlugEntry& entry : record.entries) {
            if (!is_here(entry)) continue;  // of another pod of the machine: left alone
            out.push_back(entry.plug);
            out.back().in_place = is_in_place(record, entry, mounts);
        }
        std::ranges::sort(out, {}, &Plug::volume);
        return out;
    }

    Result<void> plug(const Plug& wanted) {
        TRY(const Fd folder, open_pod_folder(dirs_.pods, host_.launcher_pod));
        TRY(PlugRecord before, locked([&] { return read(); }));
        const PlugEntry* known = before.find(wanted.volume);
        if (known != nullptr && known->plug.claim == wanted.claim && is_in_place(before, *known, read_mounts()))
            return {};
        TRY(const PlugSource source, find_source(dirs_.pods, wanted));
        TRY(const bool is_stale, locked([&] { return enter(wanted, source); }));
        if (is_stale) act_("remove what is stale");
        if (is_stale) static_cast<void>(::unlinkat(folder.get(), file_of(wanted).c_str(), 0));
        return wanted.block ? make_node(folder, wanted, source) : mount_file(folder, wanted, source);
    }

    Result<void> unplug(const std::string& volume) {
        TRY(PlugRecord record, locked([&] { return read(); }));
        const PlugEntry* entry = record.find(volume);
        if (entry == nullptr || !is_here(*entry)) return {};
        TRY_DO(take_away(*entry));
        return locked([&] { return leave(volume); });
    }

    /// What cannot be unmounted now goes with the pod's folder; the record goes in any case.
    Result<void> unplug_all() {
        TRY(const PlugRecord record, locked([&] { return read(); }));
        Result<void> done;
        for (const PlugEntry& entry : record.entries) {
            if (!is_here(entry)) continue;
            Result<void> gone = take_away(entry);
            if (!gone && done) done = std::move(gone);
        }
        TRY_DO(locked([&] { return leave_all(); }));
        return done;
    }

private:
    template <class F>
    auto locked(F work) -> decltype(work()) {
        const std::lock_guard held(records_);
        return work();
    }

    [[nodiscard]] std::string record_path() const { return dirs_.records + "/" + host_.vmi.value; }
    [[nodiscard]] std::string folder_path() const {
        return dirs_.pods + "/" + host_.launcher_pod.value + "/volumes/kubernetes.io~empty-dir/hotplug-disks";
    }
    [[nodiscard]] std::string target_of(const Plug& plug) const { return folder_path() + "/" + file_of(plug); }
    [[nodiscard]] bool is_here(const PlugEntry& entry) const { return entry.target == target_of(entry.plug); }
    [[nodiscard]] std::string group() const { return dirs_.cgroup + "/" + host_.launcher_pod.value + "/compute"; }

    // --- the record ---

    Result<PlugRecord> read() {
        const Result<std::string> text = solo::read_file(record_path());
        if (!text && text.error().kind == ErrorKind::not_found) return PlugRecord{.host = host_, .boot = boot_};
        if (text) {
            Result<PlugRecord> record = parse_record(*text);
            if (record) return record;
        }
        TRY(PlugRecord rebuilt, rebuild());
        TRY_DO(write(rebuilt));
        return rebuilt;
    }

    Result<void> write(const PlugRecord& record) {
        act_("write the record");
        if (record.entries.empty()) {
            if (::unlink(record_path().c_str()) == 0 || errno == ENOENT) return {};
            return fail_errno("remove \"" + record_path() + "\"", errno);
        }
        TRY_DO(solo::make_dirs(dirs_.records, 0700));
        return solo::write_durably(record_path(), print(record), 0600);
    }

    /// From what the kernel shows. The claims are not to be seen there: an empty one is told from the wanted one by its
    /// file or device when it is plugged again.
    Result<PlugRecord> rebuild() {
        PlugRecord out{.host = host_, .boot = boot_};
        const Result<Fd> folder = open_pod_folder(dirs_.pods, host_.launcher_pod);
        if (!folder) return out;
        TRY(const std::vector<solo::MountPoint> mounts, solo::read_mounts());
        for (const std::string& name : solo::list_dir(folder_path())) {
            struct stat status{};
            if (::fstatat(folder->get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
            PlugEntry entry{.target = folder_path() + "/" + name};
            entry.plug.block = S_ISBLK(status.st_mode);
            entry.plug.volume = entry.plug.block ? name : name.substr(0, name.rfind(".img"));
            const bool is_mount = solo::mount_at(mounts, entry.target) != nullptr && name.ends_with(".img");
            if (!entry.plug.block && !is_mount) continue;
            entry.device = entry.plug.block ? status.st_rdev : status.st_dev;
            entry.inode = entry.plug.block ? 0 : status.st_ino;
            out.entries.push_back(std::move(entry));
        }
        return out;
    }

    /// Puts the plug into the record, before anything is done. True: what lies there is of before a restart of the
    /// machine, when devices had other numbers.
    Result<bool> enter(const Plug& wanted, const PlugSource& source) {
        if (!wanted.shared) TRY_DO(check_holder(wanted));
        TRY(PlugRecord record, read());
        const bool is_stale = record.boot != boot_;
        record.boot = boot_;
        record.host = host_;
        PlugEntry next{wanted, target_of(wanted), source.device, source.inode};
        next.plug.in_place = false;
        PlugEntry* const known = record.find(wanted.volume);
        if (known == nullptr) {
            record.entries.push_back(std::move(next));
        } else if (known->plug.claim == wanted.claim || is_stale) {
            *known = std::move(next);
        } else if (known->plug.claim.empty() && known->device == next.device && known->inode == next.inode) {
            *known = std::move(next);
        } else {
            if (known->plug.claim.empty()) known->plug.claim = Uid{"unknown"};  // seen now not to be the wanted one
            TRY_DO(write(record));
            return taken(wanted);
        }
        TRY_DO(write(record));
        return is_stale;
    }

    /// One machine of this node has a claim; each has its own record, so the records are the locks.
    Result<void> check_holder(const Plug& wanted) {
        for (const std::string& name : solo::list_dir(dirs_.records)) {
            if (name == host_.vmi.value || name.starts_with(".")) continue;
            const Result<std::string> text = solo::read_file(dirs_.records + "/" + name);
            if (!text) continue;
            const Result<PlugRecord> other = parse_record(*text);
            if (!other) continue;
            for (const PlugEntry& entry : other->entries) {
                if (entry.plug.claim != wanted.claim) continue;
                return fail(
                    ErrorKind::conflict,
                    "volume " + wanted.volume + ": its claim is plugged into another machine of this node (UID " +
                        other->host.vmi.value + ")"
                );
            }
        }
        return {};
    }

    Result<void> leave(const std::string& volume) {
        TRY(PlugRecord record, read());
        std::erase_if(record.entries, [&](const PlugEntry& entry) { return entry.plug.volume == volume; });
        return write(record);
    }

    Result<void> leave_all() {
        TRY(PlugRecord record, read());
        std::erase_if(record.entries, [&](const PlugEntry& entry) { return is_here(entry); });
        return write(record);
    }

    /// The devices of this pod's other block plugs.
    Result<std::vector<dev_t>> devices_without(std::string_view volume) {
        TRY(const PlugRecord record, locked([&] { return read(); }));
        std::vector<dev_t> out;
        for (const PlugEntry& entry : record.entries) {
            if (entry.plug.block && is_here(entry) && entry.plug.volume != volume) out.push_back(entry.device);
        }
        return out;
    }

    // --- the kernel ---

    using Mounts = std::vector<solo::MountPoint>;

    /// Empty when they cannot be read: then nothing is taken for mounted.
    static Mounts read_mounts() { return solo::read_mounts().value_or(Mounts()); }

    bool is_in_place(const PlugRecord& record, const PlugEntry& entry, const Mounts& mounts) {
        if (record.boot != boot_) return false;
        struct stat status{};
        if (::lstat(entry.target.c_str(), &status) != 0) return false;
        if (entry.plug.block) {
            if (!S_ISBLK(status.st_mode) || status.st_rdev != entry.device) return false;
            return is_allowed(group(), entry.device).value_or(false);
        }
        return status.st_dev == entry.device && status.st_ino == entry.inode &&
               solo::mount_at(mounts, entry.target) != nullptr;
    }

    static bool is_mounted(const std::string& target) { return solo::mount_at(read_mounts(), target) != nullptr; }

    Result<void> mount_file(const Fd& folder, const Plug& plug, const PlugSource& source) {
        const std::string name = file_of(plug);
        act_("make a file");
        const Fd made(::openat(folder.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
        if (!made.is_open() && errno != EEXIST) return fail_volume(plug, "make the file to mount it on", errno);
        const Fd target(::openat(folder.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
        struct stat status{};
        if (!target.is_open() || ::fstat(target.get(), &status) != 0) return fail_volume(plug, "open its place", errno);
        if (!S_ISREG(status.st_mode)) return replaced(plug);
        act_("mount");
        if (is_mounted(target_of(plug))) {
            if (status.st_dev != source.device || status.st_ino != source.inode) return taken(plug);
        } else if (::mount(path_of(source.file).c_str(), path_of(target).c_str(), nullptr, MS_BIND, nullptr) != 0) {
            return fail_volume(plug, "bind its disk.img into the launcher pod", errno);
        }
        act_("set the owner");
        return own(source.file, plug);
    }

    Result<void> make_node(const Fd& folder, const Plug& plug, const PlugSource& source) {
        TRY(std::optional<struct stat> there, look_at(folder, plug));
        act_("make a node");
        if (!there && ::mknodat(folder.get(), plug.volume.c_str(), S_IFBLK | source.mode, source.device) != 0)
            return fail_volume(plug, "make its device node", errno);
        const Fd node(::openat(folder.get(), plug.volume.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
        struct stat status{};
        if (!node.is_open() || ::fstat(node.get(), &status) != 0)
            return fail_volume(plug, "open its device node", errno);
        if (!S_ISBLK(status.st_mode)) return replaced(plug);
        if (status.st_rdev != source.device) return taken(plug);
        TRY(const std::vector<dev_t> plugged, devices_without(""));
        act_("allow the device");
        TRY_DO(allow_device(group(), source.device, plugged));
        act_("set the owner");
        // mknod obeys the umask of this process.
        if ((status.st_mode & 0777) != source.mode && ::chmod(path_of(node).c_str(), source.mode) != 0)
            return fail_volume(plug, "set the mode of its device node", errno);
        return own(node, plug);
    }

    Result<void> take_away(const PlugEntry& entry) {
        const Plug& plug = entry.plug;
        if (plug.block) {
            TRY(const std::vector<dev_t> plugged, devices_without(plug.volume));
            act_("deny the device");
            TRY_DO(deny_device(group(), entry.device, plugged));
        }
        const Result<Fd> folder = open_pod_folder(dirs_.pods, host_.launcher_pod);
        if (!folder && folder.error().kind == ErrorKind::unavailable) return {};  // the pod is gone, and all with it
        if (!folder) return std::unexpected(folder.error());
        TRY(const std::optional<struct stat> there, look_at(*folder, plug));
        if (!there) return {};
        if (plug.block != S_ISBLK(there->st_mode) || (!plug.block && !S_ISREG(there->st_mode))) return replaced(plug);
        const std::string name = file_of(plug);
        // The last part of the path is not followed, and all before it is this very folder.
        while (!plug.block && is_mounted(entry.target)) {
            act_("unmount");
            if (::umount2((path_of(*folder) + "/" + name).c_str(), UMOUNT_NOFOLLOW) != 0)
                return fail_volume(plug, "unmount it from the launcher pod", errno);
        }
        act_("remove the file or node");
        if (::unlinkat(folder->get(), name.c_str(), 0) != 0 && errno != ENOENT)
            return fail_volume(plug, "remove its place in the launcher pod", errno);
        return {};
    }

    const PlugDirs& dirs_;
    const BeforeAct& act_;
    const std::string& boot_;
    std::mutex& records_;
    PlugHost host_;
};

LinuxPlugs::LinuxPlugs(Blocking& blocking, PlugDirs dirs, BeforeAct before_act)
    : blocking_(blocking), dirs_(std::move(dirs)), before_act_(std::move(before_act)) {
    boot_ = solo::read_file("/proc/sys/kernel/random/boot_id").value_or("");
    while (boot_.ends_with('\n')) boot_.pop_back();
}

LinuxPlugs::Work LinuxPlugs::work(PlugHost host) { return {*this, std::move(host)}; }

Task<Result<std::vector<Plug>>> LinuxPlugs::look(PlugHost host) {
    auto call = [this, host] { return work(host).look(); };
    co_return co_await blocking(blocking_, std::move(call));
}

Task<Result<void>> LinuxPlugs::plug(PlugHost host, Plug wanted) {
    auto call = [this, host, wanted] { return work(host).plug(wanted); };
    co_return co_await blocking(blocking_, std::move(call));
}

Task<Result<void>> LinuxPlugs::unplug(PlugHost host, std::string volume) {
    auto call = [this, host, volume] { return work(host).unplug(volume); };
    co_return co_await blocking(blocking_, std::move(call));
}

Task<Result<void>> LinuxPlugs::unplug_all(PlugHost host) {
    auto call = [this, host] { return work(host).unplug_all(); };
    co_return co_await blocking(blocking_, std::move(call));
}

Task<Result<std::vector<PlugHost>>> LinuxPlugs::hosts() {
    auto call = [this] {
        std::vector<PlugHost> out;
        for (const std::string& name : solo::list_dir(dirs_.records)) {
            if (name.starts_with(".")) continue;
            const Result<std::string> text = solo::read_file(dirs_.records + "/" + name);
            const Result<PlugRecord> record = text ? parse_record(*text) : std::unexpected(text.error());
            // Of a damaged one only the machine is known, from its name.
            out.push_back(record ? record->host : PlugHost{Uid{name}, {}});
        }
        return Result<std::vector<PlugHost>>(std::move(out));
    };
    co_return co_await blocking(blocking_, std::move(call));
}

}  // namespace berth::node
