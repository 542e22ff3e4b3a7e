#include "solo/edge/container_start.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <array>
#include <cerrno>

#include "solo/edge/files.hpp"
#include "solo/edge/mounts.hpp"
#include "solo/edge/rootfs.hpp"
#include "solo/edge/sub_path.hpp"

namespace berth::solo {
namespace {

/// In the order of their numbers. Source: capabilities(7), linux/capability.h
constexpr std::array<std::string_view, 41> kCapabilities = {
    "CAP_CHOWN",
    "CAP_DAC_OVERRIDE",
    "CAP_DAC_READ_SEARCH",
    "CAP_FOWNER",
    "CAP_FSETID",
    "CAP_KILL",
    "CAP_SETGID",
    "CAP_SETUID",
    "CAP_SETPCAP",
    "CAP_LINUX_IMMUTABLE",
    "CAP_NET_BIND_SERVICE",
    "CAP_NET_BROADCAST",
    "CAP_NET_ADMIN",
    "CAP_NET_RAW",
    "CAP_IPC_LOCK",
    "CAP_IPC_OWNER",
    "CAP_SYS_MODULE",
    "CAP_SYS_RAWIO",
    "CAP_SYS_CHROOT",
    "CAP_SYS_PTRACE",
    "CAP_SYS_PACCT",
    "CAP_SYS_ADMIN",
    "CAP_SYS_BOOT",
    "CAP_SYS_NICE",
    "CAP_SYS_RESOURCE",
    "CAP_SYS_TIME",
    "CAP_SYS_TTY_CONFIG",
    "CAP_MKNOD",
    "CAP_LEASE",
    "CAP_AUDIT_WRITE",
    "CAP_AUDIT_CONTROL",
    "CAP_SETFCAP",
    "CAP_MAC_OVERRIDE",
    "CAP_MAC_ADMIN",
    "CAP_SYSLOG",
    "CAP_WAKE_ALARM",
    "CAP_BLOCK_SUSPEND",
    "CAP_AUDIT_READ",
    "CAP_PERFMON",
    "CAP_BPF",
    "CAP_CHECKPOINT_RESTORE",
};

std::vector<std::string> own_capabilities() {
    const std::string status = read_file("/proc/self/status").value_or("");
    const std::size_t at = status.find("CapBnd:");
    const std::uint64_t set = at == std::string::npos ? 0 : std::strtoull(status.c_str() + at + 7, nullptr, 16);
    std::vector<std::string> out;
    for (std::size_t i = 0; i < kCapabilities.size(); ++i) {
        if ((set >> i & 1) != 0) out.emplace_back(kCapabilities[i]);
    }
    return out;
}

Result<std::vector<DeviceNode>> devices_of(const ContainerSpec& spec) {
    std::vector<DeviceNode> out;
    for (const Device& device : spec.devices) {
        struct stat status{};
        if (::stat(device.host_path.c_str(), &status) != 0)
            return fail_errno("device \"" + device.host_path + "\"", errno);
        if (!S_ISBLK(status.st_mode) && !S_ISCHR(status.st_mode)) {
            return fail(
                ErrorKind::invalid,
                "device \"" + device.host_path + "\" is not a device: use a volume of mode Filesystem for it"
            );
        }
        out.push_back({
            .container_path = device.container_path,
            .type = S_ISBLK(status.st_mode) ? 'b' : 'c',
            .major = major(status.st_rdev),
            .minor = minor(status.st_rdev),
            .read_only = device.read_only,
        });
    }
    return out;
}

/// The wish of a VM pod with the device that its guest runs on.
ContainerSpec with_accelerator(const Machine& machine, ContainerSpec spec) {
    if (is_vm_pod(spec) && machine.accelerator == "kvm")
        spec.devices.push_back({.host_path = "/dev/kvm", .container_path = "/dev/kvm"});
    return spec;
}

/// The wish with each sub path replaced by a bind of what it names.
Result<ContainerSpec> with_sub_paths(const ContainerDir& dir, ContainerSpec spec) {
    int count = 0;
    for (Mount& mount : spec.mounts) {
        if (mount.sub_path.empty()) continue;
        const std::string target = dir.path() + "/subpaths/" + std::to_string(count++);
        TRY_DO(bind_sub_path(mount.host_path, mount.sub_path, target));
        mount.host_path = target;
        mount.sub_path.clear();
    }
    return spec;
}

Result<void> write_bundle(
    const Machine& machine, const Image& image, const ContainerDir& dir, const ContainerSpec& spec
) {
    TRY_DO(make_rootfs(image, machine.paths.layer(), dir.rootfs(), dir.path(), spec.hostname));
    TRY(const ContainerSpec wish, with_sub_paths(dir, spec));
    // Anybody in the container may write its last words.
    TRY_DO(write_plain(dir.termination_file(), "", 0666));
    Bundle bundle{
        .image = image,
        .program = machine.program,
        .termination_file = dir.termination_file(),
        .etc_dir = dir.path() + "/etc",
        .capability_seed = machine.paths.capabilities(),
        .accelerator = machine.accelerator,
        .cgroup = machine.paths.cgroup() + "/" + spec.pod_uid.value + "/" + spec.name,
        .open_files_max = machine.open_files_max,
        .known_capabilities = machine.capabilities,
    };
    TRY(bundle.devices, devices_of(with_accelerator(machine, wish)));
    return write_plain(dir.path() + "/config.json", json::print(oci_spec(wish, bundle)), 0600);
}

ContainerRecord first_record(const Machine& machine, const ContainerDir& dir, const ContainerSpec& spec) {
    ContainerRecord out;
    out.pod_uid = spec.pod_uid;
    out.name = spec.name;
    out.attempt = spec.attempt;
    out.id = dir.id();
    out.boot = machine.boot;
    out.message_from_log = spec.message_from_log;
    return out;
}

/// Attempts of a container share a control group, and deleting one in the runtime empties it: the runtime must have
/// forgotten all others before the next one comes. Their records stay.
Result<void> forget_others(const Conmon& conmon, const Machine& machine, const ContainerDir& dir, Timestamp now) {
    for (const ContainerRecord& other : read_records_of(dir.node, dir.pod)) {
        if (other.name != dir.name || other.attempt == dir.attempt) continue;
        const ContainerDir at{.node = dir.node, .pod = dir.pod, .name = dir.name, .attempt = other.attempt};
        if (look_at(at, other, machine.boot, now).stage == Stage::started) {
            return fail(
                ErrorKind::conflict,
                "container \"" + dir.name + "\": attempt " + std::to_string(other.attempt) + " still runs; end it first"
            );
        }
        TRY_DO(conmon.remove(at, Stage::exited));
    }
    return {};
}

/// Creates the container anew: what an earlier try left, whole or not, has never run and goes first.
Result<ContainerRecord> create(
    const Conmon& conmon,
    const Machine& machine,
    const Image& image,
    const ContainerDir& dir,
    const ContainerSpec& spec,
    Timestamp now
) {
    TRY_DO(forget_others(conmon, machine, dir, now));
    if (exists(dir.path())) {
        TRY_DO(conmon.remove(dir, Stage::creating));
        TRY_DO(unmount_below(dir.path()));
        TRY_DO(remove_tree(dir.path()));
    }
    TRY_DO(make_dirs(dir.path(), 0711));
    ContainerRecord record = first_record(machine, dir, spec);
    TRY_DO(write_record(dir, record));
    TRY_DO(write_bundle(machine, image, dir, spec));
    const Result<Conmon::Created> created = conmon.create(dir);
    TRY_DO(unmount_below(dir.path()));
    if (!created) return std::unexpected(created.error());
    record.process = created->process;
    record.monitor = created->monitor;
    return record;
}

}  // namespace

Machine this_machine(const DataDir& data) {
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    return {
        .paths = data.paths(),
        .program = data.program(),
        .boot = boot_id(),
        .open_files_max = static_cast<std::int64_t>(std::min<rlim_t>(files.rlim_max, 1 << 20)),
        .capabilities = own_capabilities(),
    };
}

Result<ContainerRecord> start_container(
    const Conmon& conmon,
    const Machine& machine,
    const Image& image,
    const NodeDir& node,
    const ContainerSpec& spec,
    Timestamp now
) {
    const ContainerDir dir{.node = node, .pod = spec.pod_uid, .name = spec.name, .attempt = spec.attempt};
    if (!is_plain_name(spec.pod_uid.value) || !is_plain_name(spec.name)) {
        return fail(
            ErrorKind::invalid, "container \"" + spec.name + "\" of pod \"" + spec.pod_uid.value + "\": not names"
        );
    }
    Result<ContainerRecord> known = read_record(dir);
    if (known) *known = look_at(dir, std::move(*known), machine.boot, now);
    if (known && known->stage == Stage::exited) return known;
    if (known && known->stage == Stage::started) {
        // Killed between the note and the act: it may still wait to be started.
        TRY(const std::string status, conmon.status(dir.id()));
        if (status == "created") TRY_DO(conmon.start(dir.id()));
        return known;
    }
    Result<ContainerRecord> record = create(conmon, machine, image, dir, spec, now);
    if (record) {
        record->stage = Stage::started;
        record->started_at = now;
        TRY_DO(write_record(dir, *record));
        const Result<void> started = conmon.start(dir.id());
        if (started) return record;
        record = std::unexpected(started.error());
    }
    static_cast<void>(conmon.remove(dir, Stage::creating));
    static_cast<void>(unmount_below(dir.path()));
    static_cast<void>(remove_tree(dir.path()));
    return record;
}

}  // namespace berth::solo
