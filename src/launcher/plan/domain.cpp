// See domain.hpp. This file: processor, memory, firmware, clock. devices.cpp: the rest.
#include "launcher/plan/domain.hpp"

#include <algorithm>

#include "base/hash.hpp"

namespace berth::launcher {
namespace {

std::string machine_type(const api::Domain& domain) {
    return domain.machine && !domain.machine->type.empty() ? domain.machine->type : "q35";
}

// Without KVM only "maximum" and named models exist; host-model would be resolved to a model QEMU cannot fully emulate.
Element cpu_element(const DomainInput& input) {
    const api::Domain& domain = input.vmi.spec.domain;
    const api::Cpu cpu = domain.cpu.value_or(api::Cpu{});
    const std::string model = cpu.model.empty() ? "host-model" : cpu.model;
    const bool follows_host = model == "host-model" || model == "host-passthrough";
    Element out{"cpu"};
    if (!follows_host) {
        out.set("mode", "custom").set("match", "exact");
        if (input.accelerator == Accelerator::tcg) out.set("check", "none");
        out.add(
            "model",
            {
                {"fallback", "forbid"}
        },
            model
        );
    } else {
        out.set("mode", input.accelerator == Accelerator::kvm ? model : "maximum");
    }
    const std::int64_t cores = std::max<std::int64_t>(cpu.cores, 1);
    const std::int64_t threads = std::max<std::int64_t>(cpu.threads, 1);
    const std::int64_t sockets = std::max<std::int64_t>(vcpu_count(domain) / (cores * threads), 1);
    out.add(
        "topology",
        {
            {"sockets", std::to_string(sockets)},
            {"cores",   std::to_string(cores)  },
            {"threads", std::to_string(threads)}
    }
    );
    if (const auto* features = cpu.features.if_array();
        features != nullptr && (!follows_host || input.accelerator == Accelerator::kvm)) {
        for (const json::Value& feature : *features) {
            const std::string_view policy = json::text_at(feature, "/policy");
            out.add(
                "feature",
                {
                    {"policy", std::string(policy.empty() ? "require" : policy)},
                    {"name", std::string(json::text_at(feature, "/name"))}
            }
            );
        }
    }
    return out;
}

Element os_element(const DomainInput& input) {
    const api::Domain& domain = input.vmi.spec.domain;
    Element out{"os"};
    out.add(
        "type",
        {
            {"arch",    "x86_64"            },
            {"machine", machine_type(domain)}
    },
        "hvm"
    );
    const bool wants_bios = domain.firmware && json::bool_at(domain.firmware->bootloader, "/bios/useSerial");
    if (wants_bios && domain.devices.autoattach_serial_console.value_or(true))
        out.add(
            "bios",
            {
                {"useserial", "yes"}
        }
        );
    return out;
}

Element clock_element(const api::Domain& domain) {
    Element out{"clock"};
    const std::string_view timezone = json::text_at(domain.clock, "/timezone");
    if (!timezone.empty()) {
        out.set("offset", "timezone").set("timezone", std::string(timezone));
    } else if (const auto seconds = json::integer_at(domain.clock, "/utc/offsetSeconds"); seconds && *seconds != 0) {
        out.set("offset", "variable").set("adjustment", std::to_string(*seconds)).set("basis", "utc");
    } else {
        out.set("offset", "utc");
    }
    return out;
}

// The machine of one name keeps its hardware identity over restarts even if nothing wrote one down.
std::string firmware_uuid(const api::VirtualMachineInstance& vmi) {
    const std::optional<api::Firmware>& firmware = vmi.spec.domain.firmware;
    if (firmware && !firmware->uuid.empty()) return firmware->uuid;
    std::string hex = sha1_hex("berth machine " + vmi.metadata.ns + "/" + vmi.metadata.name);
    hex[12] = '5';
    hex[16] = "89ab"[(hex[16] <= '9' ? hex[16] - '0' : hex[16] - 'a' + 10) % 4];
    return hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" + hex.substr(16, 4) + "-" +
           hex.substr(20, 12);
}

}  // namespace

std::string domain_name(const std::string& ns, const std::string& name) { return ns + "_" + name; }

Bytes guest_memory(const api::Domain& domain) {
    if (domain.memory && !domain.memory->guest.empty()) return bytes_or_zero(domain.memory->guest);
    if (!domain.resources) return {};
    for (const auto* list : {&domain.resources->requests, &domain.resources->limits}) {
        if (const auto it = list->find("memory"); it != list->end()) return bytes_or_zero(it->second);
    }
    return {};
}

std::int64_t vcpu_count(const api::Domain& domain) {
    const api::Cpu cpu = domain.cpu.value_or(api::Cpu{});
    if (cpu.cores != 0 || cpu.sockets != 0 || cpu.threads != 0) {
        const auto at_least_one = [](std::int64_t count) { return std::max<std::int64_t>(count, 1); };
        return at_least_one(cpu.cores) * at_least_one(cpu.sockets) * at_least_one(cpu.threads);
    }
    if (!domain.resources) return 1;
    for (const auto* list : {&domain.resources->limits, &domain.resources->requests}) {
        const auto it = list->find("cpu");
        if (it == list->end()) continue;
        return std::max<std::int64_t>((milli_cpu_or_zero(it->second).value + 999) / 1000, 1);
    }
    return 1;
}

Result<std::string> domain_xml(const DomainInput& input) {
    const api::Domain& domain = input.vmi.spec.domain;
    const Bytes memory = guest_memory(domain);
    if (memory.value <= 0) return fail(ErrorKind::invalid, "the machine has no memory: set spec.domain.memory.guest");
    TRY(Element devices, devices_element(input));

    Element root{"domain"};
    root.set("type", input.accelerator == Accelerator::kvm ? "kvm" : "qemu");
    root.add("name", {}, domain_name(input.vmi.metadata.ns, input.vmi.metadata.name));
    root.add("uuid", {}, firmware_uuid(input.vmi));
    root.add(
        "memory",
        {
            {"unit", "b"}
    },
        std::to_string(memory.value)
    );
    root.add(
        "vcpu",
        {
            {"placement", "static"}
    },
        std::to_string(vcpu_count(domain))
    );
    root.add(os_element(input));
    Element& features = root.add("features");
    features.add("acpi");  // the power button, and hotplug
    features.add("apic");
    root.add(cpu_element(input));
    root.add(clock_element(domain));
    root.add("on_poweroff", {}, "destroy");
    root.add("on_reboot", {}, "restart");
    root.add("on_crash", {}, "destroy");
    root.add(std::move(devices));
    return print(root);
}

}  // namespace berth::launcher
