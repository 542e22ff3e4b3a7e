#include "solo/edge/oci_spec.hpp"

#include <algorithm>
#include <map>

#include "base/ranges.hpp"

namespace berth::solo {
namespace {

constexpr std::int64_t kCpuPeriod = 100'000;  // microseconds
constexpr std::int64_t kPidsMax = 4096;

json::Array texts(const std::vector<std::string>& values) {
    json::Array out;
    for (const std::string& value : values) out.emplace_back(value);
    return out;
}

json::Value mount(
    std::string_view destination,
    std::string_view type,
    std::string_view source,
    const std::vector<std::string>& options
) {
    json::Object out;
    out["destination"] = destination;
    out["type"] = type;
    out["source"] = source;
    out["options"] = texts(options);
    return json::Value(std::move(out));
}

json::Value tmpfs(std::string_view destination) {
    return mount(destination, "tmpfs", "tmpfs", {"nosuid", "nodev", "mode=1777", "size=64m"});
}

/// Paths that every container gets from the kernel.
json::Array kernel_mounts() {
    json::Array out;
    out.push_back(mount("/proc", "proc", "proc", {"nosuid", "noexec", "nodev"}));
    // libvirt cannot start a domain without /sys; no cgroup mount below it, so that nothing inside sees our groups.
    out.push_back(mount("/sys", "sysfs", "sysfs", {"nosuid", "noexec", "nodev", "ro"}));
    out.push_back(mount("/dev", "tmpfs", "tmpfs", {"nosuid", "strictatime", "mode=755", "size=65536k"}));
    out.push_back(
        mount("/dev/pts", "devpts", "devpts", {"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"})
    );
    out.push_back(mount("/dev/shm", "tmpfs", "shm", {"nosuid", "noexec", "nodev", "mode=1777", "size=65536k"}));
    out.push_back(mount("/dev/mqueue", "mqueue", "mqueue", {"nosuid", "noexec", "nodev"}));
    return out;
}

void add_userland(json::Array& out, const ContainerSpec& spec, const Bundle& bundle) {
    if (bundle.image.userland == Userland::own) {
        for (const char* file : {"hosts", "hostname", "resolv.conf"}) {
            if (bundle.etc_dir.empty()) break;
            out.push_back(mount(
                std::string("/etc/") + file, "bind", bundle.etc_dir + "/" + file, {"bind", "ro", "nosuid", "nodev"}
            ));
        }
        return;
    }
    for (const char* path : {"/run", "/tmp", "/var/tmp", "/var/lib", "/var/cache", "/var/log"})
        out.push_back(tmpfs(path));
    for (const std::string_view name : kProgramNames) {
        if (bundle.program.empty()) break;
        out.push_back(mount("/usr/bin/" + std::string(name), "bind", bundle.program, {"bind", "ro", "nosuid", "nodev"})
        );
    }
    if (is_vm_pod(spec) && !bundle.capability_seed.empty()) {
        out.push_back(mount(
            "/usr" + std::string(kCapabilitiesInUsr),
            "bind",
            bundle.capability_seed,
            {"bind", "ro", "nosuid", "nodev", "noexec"}
        ));
    }
    if (bundle.image.is_disk)
        out.push_back(mount("/disk", "bind", bundle.image.tree + "/disk", {"bind", "ro", "nosuid", "nodev", "noexec"}));
}

void add_volumes(json::Array& out, const ContainerSpec& spec, const Bundle& bundle) {
    // Parents first: a volume inside another one must not be covered by it.
    std::multimap<std::ptrdiff_t, const Mount*> by_depth;
    for (const Mount& each : spec.mounts) by_depth.emplace(std::ranges::count(each.container_path, '/'), &each);
    for (const auto& [depth, at] : by_depth) {
        const Mount& each = *at;
        std::vector<std::string> options{
            "rbind", each.follows_host ? "rslave" : "rprivate", each.read_only ? "ro" : "rw"
        };
        out.push_back(mount(each.container_path, "bind", each.host_path, options));
    }
    if (!spec.termination_message_path.empty() && !bundle.termination_file.empty()) {
        out.push_back(mount(
            spec.termination_message_path, "bind", bundle.termination_file, {"bind", "rw", "nosuid", "nodev", "noexec"}
        ));
    }
}

json::Array environment(const ContainerSpec& spec, const Bundle& bundle) {
    std::vector<std::pair<std::string, std::string>> out{
        {"PATH",     "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
        {"HOME",     spec.uid == 0 ? "/root" : "/"                                 },
        {"HOSTNAME", spec.hostname                                                 },
    };
    const auto set = [&out](const std::string& name, const std::string& value) {
        const auto found = std::ranges::find(out, name, &std::pair<std::string, std::string>::first);
        if (found == out.end())
            out.emplace_back(name, value);
        else
            found->second = value;
    };
    for (const std::string& line : bundle.image.env) {
        const std::size_t equals = line.find('=');
        if (equals != std::string::npos) set(line.substr(0, equals), line.substr(equals + 1));
    }
    if (is_vm_pod(spec) && !bundle.accelerator.empty()) set("BERTH_ACCEL", bundle.accelerator);
    for (const auto& [name, value] : spec.env) set(name, value);
    json::Array lines;
    for (const auto& [name, value] : out) lines.emplace_back(name + "=" + value);
    return lines;
}

std::vector<std::string> capabilities(const ContainerSpec& spec, const Bundle& bundle) {
    if (spec.privileged) return bundle.known_capabilities;
    std::vector<std::string> out;
    for (const std::string& name : spec.capabilities) {
        std::string full = name.starts_with("CAP_") ? name : "CAP_" + name;
        // One that we lack ourselves would fail the whole container.
        if (contains(bundle.known_capabilities, full) && !contains(out, full)) out.push_back(std::move(full));
    }
    return out;
}

json::Object process(const ContainerSpec& spec, const Bundle& bundle) {
    json::Object user;
    user["uid"] = spec.uid;
    user["gid"] = spec.gid;
    json::Array groups;
    groups.emplace_back(spec.gid);
    if (spec.fs_group && *spec.fs_group != spec.gid) groups.emplace_back(*spec.fs_group);
    user["additionalGids"] = std::move(groups);

    json::Object held;
    const json::Array names = texts(capabilities(spec, bundle));
    // The ambient set too: else they have no effect for a user that is not root.
    for (const char* set : {"bounding", "effective", "permitted", "inheritable", "ambient"}) held[set] = names;

    json::Object files;
    files["type"] = "RLIMIT_NOFILE";
    files["hard"] = bundle.open_files_max;
    files["soft"] = bundle.open_files_max;

    std::string working_dir = spec.working_dir.empty() ? bundle.image.working_dir : spec.working_dir;
    json::Object out;
    out["terminal"] = false;
    out["user"] = std::move(user);
    out["args"] = texts(spec.argv.empty() ? bundle.image.entry_point : spec.argv);
    out["env"] = environment(spec, bundle);
    out["cwd"] = working_dir.empty() ? "/" : std::move(working_dir);
    out["capabilities"] = std::move(held);
    out["noNewPrivileges"] = !spec.privileged;
    out["oomScoreAdj"] = 100;
    json::Array limits;
    limits.push_back(json::Value(std::move(files)));
    out["rlimits"] = std::move(limits);
    return out;
}

json::Object device_rule(const DeviceNode& device) {
    json::Object out;
    out["allow"] = true;
    out["type"] = std::string(1, device.type);
    out["major"] = device.major;
    out["minor"] = device.minor;
    out["access"] = device.read_only ? "rm" : "rwm";
    return out;
}

json::Object resources(const ContainerSpec& spec, const Bundle& bundle) {
    json::Array rules;
    json::Object all;
    all["allow"] = spec.privileged;
    all["access"] = "rwm";
    rules.push_back(json::Value(std::move(all)));
    for (const DeviceNode& device : bundle.devices) rules.push_back(json::Value(device_rule(device)));

    json::Object cpu;
    // Kubernetes' own arithmetic: 1024 shares a CPU, at least 2; a quota of at least 1 ms.
    cpu["shares"] = std::max<std::int64_t>(2, spec.cpu_request.value * 1024 / 1000);
    if (spec.cpu_limit.value > 0) {
        cpu["period"] = kCpuPeriod;
        cpu["quota"] = std::max<std::int64_t>(1000, spec.cpu_limit.value * kCpuPeriod / 1000);
    }
    json::Object out;
    out["devices"] = std::move(rules);
    out["cpu"] = std::move(cpu);
    json::Object pids;
    pids["limit"] = kPidsMax;
    out["pids"] = std::move(pids);
    if (spec.memory_limit.value > 0) {
        json::Object memory;
        memory["limit"] = spec.memory_limit.value;
        out["memory"] = std::move(memory);
    }
    return out;
}

json::Object linux_part(const ContainerSpec& spec, const Bundle& bundle) {
    json::Object out;
    json::Array namespaces;
    for (const char* type : {"pid", "ipc", "uts", "mount"}) {  // no network: pods of a solo node use the host's
        json::Object each;
        each["type"] = type;
        namespaces.push_back(json::Value(std::move(each)));
    }
    out["namespaces"] = std::move(namespaces);
    out["cgroupsPath"] = bundle.cgroup;
    out["rootfsPropagation"] = "rslave";
    if (!spec.privileged) {
        out["maskedPaths"] =
            texts({"/proc/kcore", "/proc/keys", "/proc/sysrq-trigger", "/proc/timer_list", "/sys/firmware"});
        out["readonlyPaths"] = texts({"/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs"});
    }
    json::Array devices;
    for (const DeviceNode& device : bundle.devices) {
        json::Object each;
        each["path"] = device.container_path;
        each["type"] = std::string(1, device.type);
        each["major"] = device.major;
        each["minor"] = device.minor;
        each["fileMode"] = device.read_only ? 0440 : 0660;
        each["uid"] = spec.uid;
        each["gid"] = spec.gid;
        devices.push_back(json::Value(std::move(each)));
    }
    out["devices"] = std::move(devices);
    out["resources"] = resources(spec, bundle);
    return out;
}

}  // namespace

bool is_vm_pod(const ContainerSpec& spec) {
    return !spec.argv.empty() && spec.argv.front() == "/usr/bin/virt-launcher-monitor";
}

json::Value oci_spec(const ContainerSpec& spec, const Bundle& bundle) {
    json::Array mounts = kernel_mounts();
    add_userland(mounts, spec, bundle);
    add_volumes(mounts, spec, bundle);

    json::Object root;
    root["path"] = "rootfs";
    root["readonly"] = bundle.image.userland == Userland::host_usr;

    json::Object out;
    out["ociVersion"] = "1.0.2";
    out["process"] = process(spec, bundle);
    out["root"] = std::move(root);
    out["hostname"] = spec.hostname;
    out["mounts"] = std::move(mounts);
    out["linux"] = linux_part(spec, bundle);
    return json::Value(std::move(out));
}

}  // namespace berth::solo
