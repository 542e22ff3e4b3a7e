// Plugged volumes of a simulated node: what the attachment pod's container has can be put into the launcher's folder.
#include "base/ranges.hpp"
#include "sim/machine/node.hpp"

namespace berth::sim {
namespace {

std::string writer_of(const Uid& pod, const std::string& volume) { return pod.value + "-plug-" + volume; }

/// Where the attachment pod has a volume on its node, or "".
std::string source_of(const solo::ContainerSpec& pod, const node::Plug& plug) {
    if (plug.block) {
        const std::string path = "/path/" + plug.volume + "/" + plug.claim.value;
        const auto device = std::ranges::find(pod.devices, path, &solo::Device::container_path);
        return device == pod.devices.end() ? std::string() : device->host_path;
    }
    const auto mount = std::ranges::find(pod.mounts, "/hotplug/" + plug.volume, &solo::Mount::container_path);
    return mount == pod.mounts.end() ? std::string() : mount->host_path;
}

}  // namespace

Task<Result<std::vector<node::Plug>>> SimPlugs::look(node::PlugHost host) {
    std::vector<node::Plug> out;
    if (const auto it = hosts_.find(host.launcher_pod); it != hosts_.end()) {
        for (const auto& [volume, entry] : it->second.entries) out.push_back(entry.plug);
    }
    co_return out;
}

Task<Result<void>> SimPlugs::plug(node::PlugHost host, node::Plug wanted) {
    if (const auto it = slow.find(wanted.volume); it != slow.end()) co_await machines_.clock.sleep_for(it->second);
    if (!node_.pod_dirs().contains(host.launcher_pod))
        co_return fail(ErrorKind::unavailable, "the launcher pod has no folder");
    for (const auto& [pod, other] : hosts_) {
        if (other.vmi == host.vmi || wanted.shared) continue;
        for (const auto& [volume, entry] : other.entries) {
            if (entry.plug.claim == wanted.claim) {
                co_return fail(
                    ErrorKind::conflict, "another machine of this node has the claim of volume " + wanted.volume
                );
            }
        }
    }
    std::map<std::string, Entry>& entries = hosts_[host.launcher_pod].entries;
    hosts_[host.launcher_pod].vmi = host.vmi;
    const auto known = entries.find(wanted.volume);
    if (known != entries.end() && known->second.plug.claim != wanted.claim) {
        co_return fail(ErrorKind::conflict, "volume " + wanted.volume + " is still plugged with another claim");
    }
    if (known != entries.end() && known->second.plug.in_place) co_return Result<void>();
    const Running pod = node_.find(wanted.attachment_pod, "hotplug-disk");
    if (pod.spec == nullptr || pod.phase != solo::ContainerPhase::running) {
        co_return fail(ErrorKind::unavailable, "the attachment pod does not answer yet");
    }
    const std::string pv = node_.volume_name(source_of(*pod.spec, wanted));
    if (pv.empty())
        co_return fail(ErrorKind::unavailable, "the attachment pod does not show volume " + wanted.volume + " yet");
    if (!wanted.block && without_image.contains(wanted.volume)) {
        co_return fail(ErrorKind::not_found, "the claim of volume " + wanted.volume + " holds no disk.img");
    }
    wanted.in_place = !failing_plug.contains(wanted.volume);
    entries[wanted.volume] = {wanted, pv};
    if (!wanted.in_place)
        co_return fail(ErrorKind::io, "volume " + wanted.volume + " cannot be mounted: Input/output error");
    machines_.volumes[pv].writers.insert(writer_of(host.launcher_pod, wanted.volume));
    machines_.note("plug " + wanted.volume);
    co_return Result<void>();
}

Task<Result<void>> SimPlugs::unplug(node::PlugHost host, std::string volume) {
    const auto it = hosts_.find(host.launcher_pod);
    if (it == hosts_.end()) co_return Result<void>();
    const auto entry = it->second.entries.find(volume);
    if (entry == it->second.entries.end()) co_return Result<void>();
    if (failing_unplug.contains(volume)) {
        co_return fail(ErrorKind::io, "volume " + volume + " cannot be unmounted: Device or resource busy");
    }
    take_away(host.launcher_pod, entry->second);
    machines_.note("unplug " + volume);
    it->second.entries.erase(entry);
    if (it->second.entries.empty()) hosts_.erase(it);
    co_return Result<void>();
}

Task<Result<void>> SimPlugs::unplug_all(node::PlugHost host) {
    const auto it = hosts_.find(host.launcher_pod);
    if (it == hosts_.end()) co_return Result<void>();
    for (const auto& [volume, entry] : it->second.entries) {
        take_away(host.launcher_pod, entry);
        machines_.note("unplug " + volume);
    }
    hosts_.erase(it);
    co_return Result<void>();
}

Task<Result<std::vector<node::PlugHost>>> SimPlugs::hosts() {
    std::vector<node::PlugHost> out;
    for (const auto& [pod, host] : hosts_) out.push_back({host.vmi, pod});
    co_return out;
}

std::map<std::string, std::string> SimPlugs::in_place(const Uid& launcher_pod) const {
    std::map<std::string, std::string> out;
    const auto it = hosts_.find(launcher_pod);
    if (it == hosts_.end()) return out;
    for (const auto& [volume, entry] : it->second.entries) {
        if (entry.plug.in_place) out[volume] = entry.pv;
    }
    return out;
}

void SimPlugs::drop_pod(const Uid& pod) {
    const auto it = hosts_.find(pod);
    if (it == hosts_.end()) return;
    for (auto& [volume, entry] : it->second.entries) {
        take_away(pod, entry);
        entry.plug.in_place = false;
    }
}

void SimPlugs::take_away(const Uid& pod, const Entry& entry) {
    const auto volume = machines_.volumes.find(entry.pv);
    if (volume != machines_.volumes.end()) volume->second.writers.erase(writer_of(pod, entry.plug.volume));
}

}  // namespace berth::sim
