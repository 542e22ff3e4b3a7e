#include "solo/admission/ports.hpp"

#include "api/codec.hpp"
#include "api/kubevirt.hpp"
#include "launcher/plan/domain.hpp"
#include "launcher/plan/ports.hpp"

namespace berth::solo {
namespace {

bool sits_on(const api::Disk& disk, std::string_view bus) {
    return (disk.disk && disk.disk->bus == bus) || (disk.cdrom && disk.cdrom->bus == bus);
}

bool is_plugged(const api::VmiSpec& spec, const std::string& name) {
    const auto it = std::ranges::find(spec.volumes, name, &api::VmVolume::name);
    return it != spec.volumes.end() && it->is_hotpluggable();
}

}  // namespace

std::optional<std::int64_t> free_ports(const json::Value& document) {
    const auto vmi = api::decode<api::VirtualMachineInstance>(document);
    if (!vmi || vmi->status.phase != "Running") return {};
    const api::VmiSpec& spec = vmi->spec;
    const std::string type = spec.domain.machine ? spec.domain.machine->type : "";
    if (type.find("q35") == std::string::npos && !type.starts_with("virt")) return {};

    const api::Devices& devices = spec.domain.devices;
    const auto count = [&](std::string_view bus, bool plugged) {
        return std::ranges::count_if(devices.disks, [&](const api::Disk& disk) {
            return sits_on(disk, bus) && is_plugged(spec, disk.name) == plugged;
        });
    };
    launcher::PortFacts facts;
    facts.memory = launcher::guest_memory(spec.domain);
    if (devices.interfaces.is_array())
        facts.interfaces = static_cast<std::int64_t>(devices.interfaces.get_array().size());
    facts.in_use = 1 + facts.interfaces + count("virtio", false) + (count("usb", false) > 0 ? 1 : 0);
    if (devices.rng.is_object()) ++facts.in_use;
    if (devices.autoattach_mem_balloon.value_or(false)) ++facts.in_use;
    return launcher::root_ports(facts) - facts.in_use - count("virtio", true);
}

}  // namespace berth::solo
