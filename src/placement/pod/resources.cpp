#include "placement/pod/resources.hpp"

#include <algorithm>

namespace berth::placement {
namespace {

using Resources = std::map<std::string, Quantity>;

// Monitor 25, launcher 100, virtlogd 25, virtqemud 40, QEMU 50: what the processes take before a guest is there.
constexpr Bytes kProcesses = 240_MiB;
constexpr Bytes kPerVcpu = 8_MiB;
constexpr Bytes kIoThread = 8_MiB;
constexpr Bytes kGraphics = 32_MiB;
constexpr Bytes kArmFirmware = 128_MiB;
constexpr Bytes kFirstExecProbe = 100_MiB;
constexpr Bytes kPerExecProbe = 10_MiB;
constexpr Bytes kTpm = 53_MiB;
constexpr Bytes kGuaranteed = 100_MiB;
constexpr Bytes kVfio = 1_GiB;
constexpr Bytes kDownwardMetrics = 1_MiB;
constexpr Bytes kEphemeralStorage = {50'000'000};

Quantity amount_of(const Resources& resources, const std::string& name) {
    const auto it = resources.find(name);
    return it == resources.end() ? Quantity{} : it->second;
}

Resources requests_of(const api::VmiSpec& spec) {
    return spec.domain.resources ? spec.domain.resources->requests : Resources{};
}
Resources limits_of(const api::VmiSpec& spec) {
    return spec.domain.resources ? spec.domain.resources->limits : Resources{};
}

std::string hugepage_size(const api::VmiSpec& spec) {
    if (!spec.domain.memory) return {};
    return std::string(json::text_at(spec.domain.memory->hugepages, "/pageSize"));
}

bool is_list_with_members(const json::Value& value) { return value.is_array() && !value.get_array().empty(); }

bool has_dedicated_cpus(const api::VmiSpec& spec) {
    return spec.domain.cpu && spec.domain.cpu->dedicated_cpu_placement;
}

// The pod will be of class Guaranteed: limits equal to requests for both CPU and memory.
bool asks_guaranteed(const api::VmiSpec& spec) {
    const Resources requests = requests_of(spec);
    const Resources limits = limits_of(spec);
    return std::ranges::all_of(std::initializer_list<const char*>{"cpu", "memory"}, [&](const char* name) {
        const Quantity limit = amount_of(limits, name);
        const Quantity request = amount_of(requests, name);
        return !limit.empty() && (request.empty() || same_amount(limit, request));
    });
}

Bytes page_tables(const api::VmiSpec& spec) {
    const Bytes request = bytes_or_zero(amount_of(requests_of(spec), "memory"));
    return {(request.value + 999) / 1000 * 1000 / 512};
}

Bytes probe_overhead(const api::VmiSpec& spec) {
    Bytes sum;
    for (const json::Value* probe : {&spec.liveness_probe, &spec.readiness_probe}) {
        if (json::find(*probe, "/exec") != nullptr) sum = sum + kPerExecProbe;
    }
    return sum.value == 0 ? sum : sum + kFirstExecProbe;
}

Bytes with_ratio(Bytes overhead, std::int64_t ratio_milli) {
    if (ratio_milli <= 1000) return overhead;
    const std::int64_t kilo = (overhead.value + 999) / 1000;
    return {overhead.value + kilo * (ratio_milli - 1000) / 1000 * 1000};
}

// The guest-visible part of the memory request.
Bytes guest_part(const api::VmiSpec& spec, const Config& config) {
    if (const Quantity asked = amount_of(requests_of(spec), "memory"); !asked.empty()) return bytes_or_zero(asked);
    if (const Quantity limit = amount_of(limits_of(spec), "memory"); !limit.empty()) return bytes_or_zero(limit);
    return {guest_memory(spec).value * 100 / config.memory_overcommit};
}

void add_cpu(api::ResourceRequirements& out, const api::VmiSpec& spec, const Config& config) {
    const Quantity request = amount_of(requests_of(spec), "cpu");
    const Quantity limit = amount_of(limits_of(spec), "cpu");
    if (has_dedicated_cpus(spec)) {
        const std::int64_t count = vcpu_count(spec) + (spec.domain.cpu->isolate_emulator_thread ? 1 : 0);
        out.requests["cpu"] = out.limits["cpu"] = quantity_of(MilliCpu{count * 1000});
        return;
    }
    out.requests["cpu"] =
        request.empty() ? quantity_of(MilliCpu{vcpu_count(spec) * 1000 / config.cpu_allocation_ratio}) : request;
    if (!limit.empty()) out.limits["cpu"] = limit;
}

void add_memory(api::ResourceRequirements& out, const api::VmiSpec& spec, const Config& config) {
    const Bytes overhead = memory_overhead(spec, config);
    const bool leaves_out = spec.domain.resources && spec.domain.resources->overcommit_guest_overhead;
    const Bytes extra = leaves_out ? Bytes{} : overhead;
    if (const std::string size = hugepage_size(spec); !size.empty()) {
        const Bytes guest = guest_memory(spec);
        out.requests["hugepages-" + size] = out.limits["hugepages-" + size] = quantity_of(guest);
        const Bytes rest = {std::max<std::int64_t>(0, guest_part(spec, config).value - guest.value)};
        out.requests["memory"] = quantity_of(rest + overhead);
        if (!amount_of(limits_of(spec), "memory").empty() || has_dedicated_cpus(spec))
            out.limits["memory"] = out.requests["memory"];
        return;
    }
    out.requests["memory"] = quantity_of(guest_part(spec, config) + extra);
    if (const Quantity limit = amount_of(limits_of(spec), "memory"); !limit.empty()) {
        out.limits["memory"] = quantity_of(bytes_or_zero(limit) + overhead);
    } else if (has_dedicated_cpus(spec)) {
        out.limits["memory"] = out.requests["memory"];
    }
}

bool has_virtio_interface(const json::Value& interfaces) {
    return std::ranges::any_of(interfaces.get_array(), [](const json::Value& one) {
        const std::string_view model = json::text_at(one, "/model");
        return model.empty() || model == "virtio" || model == "virtio-non-transitional";
    });
}

void add_devices(api::ResourceRequirements& out, const api::VmiSpec& spec, const Config& config) {
    const Quantity one{"1"};
    if (!config.use_emulation && config.offers_kvm_device) out.limits["devices.kubevirt.io/kvm"] = one;
    const json::Value& interfaces = spec.domain.devices.interfaces;
    if (config.offers_network_devices && is_list_with_members(interfaces)) {
        out.limits["devices.kubevirt.io/tun"] = one;
        if (has_virtio_interface(interfaces)) out.limits["devices.kubevirt.io/vhost-net"] = one;
    }
    for (const json::Value* list : {&spec.domain.devices.gpus, &spec.domain.devices.host_devices}) {
        if (!list->is_array()) continue;
        std::map<std::string, std::int64_t> counts;
        for (const json::Value& device : list->get_array()) ++counts[std::string(json::text_at(device, "/deviceName"))];
        for (const auto& [name, count] : counts) {
            if (!name.empty()) out.limits[name] = Quantity{std::to_string(count)};
        }
    }
    // An extended resource is requested by being limited; naming both keeps every reader of requests simple.
    for (const auto& [name, amount] : out.limits) {
        if (name.find('/') != std::string::npos) out.requests[name] = amount;
    }
}

}  // namespace

std::int64_t vcpu_count(const api::VmiSpec& spec) {
    if (!spec.domain.cpu) return 1;
    const auto or_one = [](std::int64_t n) { return n > 0 ? n : 1; };
    return or_one(spec.domain.cpu->sockets) * or_one(spec.domain.cpu->cores) * or_one(spec.domain.cpu->threads);
}

Bytes guest_memory(const api::VmiSpec& spec) {
    if (spec.domain.memory && !spec.domain.memory->guest.empty()) return bytes_or_zero(spec.domain.memory->guest);
    if (const Quantity asked = amount_of(requests_of(spec), "memory"); !asked.empty()) return bytes_or_zero(asked);
    if (const Quantity limit = amount_of(limits_of(spec), "memory"); !limit.empty()) return bytes_or_zero(limit);
    return bytes_or_zero(Quantity{hugepage_size(spec)});
}

Bytes memory_overhead(const api::VmiSpec& spec, const Config& config) {
    const api::Devices& devices = spec.domain.devices;
    Bytes sum = kProcesses + page_tables(spec) + Bytes{kPerVcpu.value * vcpu_count(spec)} + kIoThread;
    if (devices.autoattach_graphics_device.value_or(true)) sum = sum + kGraphics;
    if (spec.architecture == "arm64") sum = sum + kArmFirmware;
    if (is_list_with_members(devices.gpus) || is_list_with_members(devices.host_devices)) sum = sum + kVfio;
    if (std::ranges::any_of(spec.volumes, [](const api::VmVolume& v) { return !v.downward_metrics.is_null(); }))
        sum = sum + kDownwardMetrics;
    sum = sum + probe_overhead(spec);
    if (!devices.tpm.is_null()) sum = sum + kTpm;
    if (has_dedicated_cpus(spec) || asks_guaranteed(spec)) sum = sum + kGuaranteed;
    return with_ratio(sum, config.overhead_ratio_milli);
}

api::ResourceRequirements compute_resources(const api::VmiSpec& spec, const Config& config) {
    api::ResourceRequirements out;
    const Resources requests = requests_of(spec);
    for (const auto& [name, amount] : requests) {
        if (name != "cpu" && name != "memory") out.requests[name] = amount;
    }
    for (const auto& [name, amount] : limits_of(spec)) {
        if (name != "cpu" && name != "memory") out.limits[name] = amount;
    }
    add_cpu(out, spec, config);
    add_memory(out, spec, config);
    const Bytes scratch = bytes_or_zero(amount_of(requests, "ephemeral-storage")) + kEphemeralStorage;
    out.requests["ephemeral-storage"] = scratch == kEphemeralStorage ? Quantity{"50M"} : quantity_of(scratch);
    add_devices(out, spec, config);
    return out;
}

api::ResourceRequirements helper_resources(std::string_view type, const Config& config) {
    const auto it = std::ranges::find(config.support_resources, type, &SupportResources::type);
    if (it != config.support_resources.end()) return it->resources;
    if (type == "guest-console-log") {
        return {
            .requests = {{"cpu", Quantity{"5m"}},  {"memory", Quantity{"35M"}}},
            .limits = {{"cpu", Quantity{"15m"}}, {"memory", Quantity{"60M"}}},
        };
    }
    // A containerDisk helper copies a whole disk once: a small share is asked for, and it may use a core while it
    // copies.
    return {
        .requests = {{"cpu", Quantity{"10m"}}, {"memory", Quantity{"16M"}}, {"ephemeral-storage", Quantity{"50M"}}},
        .limits = {{"cpu", Quantity{"1"}}, {"memory", Quantity{"128M"}}},
    };
}

}  // namespace berth::placement
