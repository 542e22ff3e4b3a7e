#include "placement/admission/defaults.hpp"

#include <array>
#include <set>

#include "base/hash.hpp"
#include "placement/names.hpp"

namespace berth::placement {
namespace {

constexpr std::int64_t kGrace = 30;  // seconds
constexpr std::int64_t kQemuUser = 107;

bool lacks(const json::Value& root, std::string_view pointer) {
    const json::Value* found = json::find(root, pointer);
    return found == nullptr || found->is_null();
}

void set_if_absent(json::Value& root, std::string_view pointer, json::Value value) {
    if (lacks(root, pointer)) json::set(root, pointer, std::move(value));
}

void add_text(json::Value& root, std::string_view pointer, const char* text) {
    json::Value* list = json::find(root, pointer);
    if (list == nullptr || !list->is_array()) {
        json::set(root, pointer, json::Array{json::Value(text)});
    } else if (std::ranges::find(list->get_array(), json::Value(text)) == list->get_array().end()) {
        list->get_array().push_back(json::Value(text));
    }
}

void mark_versions(json::Value& object) {
    for (const char* key : {kLatestApiVersion, kStorageApiVersion}) {
        json::set(object, "/metadata/annotations/" + json::escape_key(key), json::Value("v1"));
    }
}

// Firmware sits below `spec`: "/spec/template/spec" of a VM, "/spec" of a VMI.
void name_firmware(json::Value& object, const std::string& spec) {
    const std::string uid(json::text_at(object, "/metadata/uid"));
    set_if_absent(object, spec + "/domain/firmware/uuid", json::Value(uuid_from("firmware " + uid)));
    set_if_absent(object, spec + "/domain/firmware/serial", json::Value(uuid_from("serial " + uid)));
}

// --- the machine
// ---------------------------------------------------------------------------------------------------------

const char* default_bus(std::string_view architecture) { return architecture == "amd64" ? "sata" : "virtio"; }

std::string amount_at(const json::Value& spec, std::string_view pointer) {
    const json::Value* found = json::find(spec, pointer);
    if (found == nullptr || found->is_null()) return {};
    return found->is_string() ? std::string(found->get_string()) : json::print(*found);
}

std::string first_of(const json::Value& spec, std::initializer_list<const char*> pointers) {
    for (const char* pointer : pointers) {
        if (std::string text = amount_at(spec, pointer); !text.empty()) return text;
    }
    return {};
}

void default_cpu(json::Value& spec, const Config& config) {
    constexpr std::array kTopology = {"/domain/cpu/sockets", "/domain/cpu/cores", "/domain/cpu/threads"};
    const bool has_topology =
        std::ranges::any_of(kTopology, [&](const char* part) { return json::integer_at(spec, part).value_or(0) > 0; });
    if (!has_topology) {
        const std::string asked = first_of(spec, {"/domain/resources/limits/cpu", "/domain/resources/requests/cpu"});
        const auto milli = milli_value(asked);
        if (milli && *milli > 0) json::set(spec, kTopology[0], json::Value((*milli + 999) / 1000));
    }
    for (const char* part : kTopology) {
        if (json::integer_at(spec, part).value_or(0) == 0) json::set(spec, part, json::Value(1));
    }
    set_if_absent(spec, "/domain/cpu/model", json::Value(config.default_cpu_model));
}

// The memory request is derived from the guest's memory when the pod is made, not here: what a user wrote stays apart
// from what follows from it.
void default_memory(json::Value& spec) {
    if (!amount_at(spec, "/domain/memory/guest").empty()) return;
    const std::string memory = first_of(
        spec,
        {"/domain/resources/requests/memory", "/domain/resources/limits/memory", "/domain/memory/hugepages/pageSize"}
    );
    if (!memory.empty()) json::set(spec, "/domain/memory/guest", json::Value(memory));
}

std::set<std::string, std::less<>> names_in(const json::Value& spec, std::string_view pointer) {
    std::set<std::string, std::less<>> out;
    const json::Value* list = json::find(spec, pointer);
    if (list == nullptr || !list->is_array()) return out;
    for (const json::Value& entry : list->get_array()) out.emplace(json::text_at(entry, "/name"));
    return out;
}

json::Array& list_at(json::Value& spec, std::string_view pointer) {
    if (const json::Value* found = json::find(spec, pointer); found == nullptr || !found->is_array())
        json::set(spec, pointer, json::Array());
    return json::find(spec, pointer)->get_array();
}

void default_disks(json::Value& spec, const char* bus) {
    constexpr std::array kTargets = {"/disk", "/cdrom", "/lun"};
    const json::Value* volumes = json::find(spec, "/volumes");
    if (volumes != nullptr && volumes->is_array()) {
        std::set<std::string, std::less<>> used = names_in(spec, "/domain/devices/disks");
        used.merge(names_in(spec, "/domain/devices/filesystems"));
        const json::Array listed = volumes->get_array();
        for (const json::Value& volume : listed) {
            const std::string_view name = json::text_at(volume, "/name");
            if (name.empty() || used.contains(name) || !lacks(volume, "/memoryDump")) continue;
            list_at(spec, "/domain/devices/disks")
                .push_back(json::Object{
                    {"name", name}
            });
        }
    }
    json::Value* disks = json::find(spec, "/domain/devices/disks");
    if (disks == nullptr || !disks->is_array()) return;
    for (json::Value& disk : disks->get_array()) {
        if (std::ranges::all_of(kTargets, [&](const char* target) { return lacks(disk, target); }))
            json::set(disk, "/disk", json::Object());
        for (const char* target : kTargets) {
            if (!lacks(disk, target)) set_if_absent(disk, std::string(target) + "/bus", json::Value(bus));
        }
    }
}

void default_network(json::Value& spec, const Config& config) {
    if (!json::bool_at(spec, "/domain/devices/autoattachPodInterface", true)) return;
    if (!names_in(spec, "/networks").empty() || !names_in(spec, "/domain/devices/interfaces").empty()) return;
    list_at(spec, "/networks")
        .push_back(json::Object{
            {"name", "default"     },
            {"pod",  json::Object()}
    });
    json::Object interface{
        {"name", "default"}
    };
    interface[config.default_network_interface] = json::Object();
    list_at(spec, "/domain/devices/interfaces").push_back(std::move(interface));
}

void default_spec(json::Value& spec, const Config& config) {
    set_if_absent(spec, "/terminationGracePeriodSeconds", json::Value(kGrace));
    set_if_absent(spec, "/architecture", json::Value(config.default_architecture));
    const std::string architecture(json::text_at(spec, "/architecture"));
    set_if_absent(spec, "/domain/machine/type", json::Value(config.machine_type_for(architecture)));
    set_if_absent(spec, "/domain/devices", json::Object());
    default_cpu(spec, config);
    default_memory(spec);
    default_disks(spec, default_bus(architecture));
    default_network(spec, config);
    if (!config.eviction_strategy.empty())
        set_if_absent(spec, "/evictionStrategy", json::Value(config.eviction_strategy));
}

}  // namespace

Writer writer_of(std::string_view name) {
    constexpr std::string_view kComponents[] = {
        "system:serviceaccount:kubevirt:", "system:serviceaccount:cdi:", "system:node:"
    };
    const bool is_component =
        std::ranges::any_of(kComponents, [&](std::string_view prefix) { return name.starts_with(prefix); });
    return is_component ? Writer::component : Writer::user;
}

void default_vm(json::Value& vm) {
    mark_versions(vm);
    add_text(vm, "/metadata/finalizers", kVmFinalizer);
    // What its controller would say first: it saves a write for each VM.
    json::Object ready{
        {"type", "Ready"},
        {"status", "False"},
        {"reason", "VMINotExists"},
        {"message", "VMI does not exist"},
        {"lastTransitionTime", json::text_at(vm, "/metadata/creationTimestamp")},
    };
    const std::int64_t generation = json::integer_at(vm, "/metadata/generation").value_or(1);
    json::set(
        vm,
        "/status",
        json::Object{
            {"printableStatus",    "Stopped"                    },
            {"conditions",         json::Array{std::move(ready)}},
            {"observedGeneration", generation                   },
            {"desiredGeneration",  generation                   },
    }
    );
    if (!lacks(vm, "/spec/template/spec/domain")) name_firmware(vm, "/spec/template/spec");
}

void default_vmi(json::Value& vmi, const Config& config, Writer writer) {
    mark_versions(vmi);
    add_text(vmi, "/metadata/finalizers", kVmiFinalizer);
    if (json::Value* spec = json::find(vmi, "/spec"); spec != nullptr && spec->is_object()) {
        default_spec(*spec, config);
        name_firmware(vmi, "/spec");
    }
    const std::string revision(json::text_at(vmi, "/status/virtualMachineRevisionName"));
    json::Object status{
        {"phase",                     "Pending"                          },
        {"phaseTransitionTimestamps",
         json::Array{json::Object{
             {"phase", "Pending"}, {"phaseTransitionTimestamp", json::text_at(vmi, "/metadata/creationTimestamp")}
         }}                                                              },
        {"runtimeUser",               config.runs_as_root ? 0 : kQemuUser},
    };
    if (writer == Writer::component && !revision.empty()) status["virtualMachineRevisionName"] = revision;
    json::set(vmi, "/status", std::move(status));
}

void keep_vm(json::Value& vm, const json::Value& old) {
    for (const char* field :
         {"/spec/template/spec/domain/firmware/uuid", "/spec/template/spec/domain/firmware/serial"}) {
        const json::Value* known = json::find(old, field);
        if (known != nullptr && !lacks(vm, "/spec/template/spec/domain")) set_if_absent(vm, field, *known);
    }
}

void keep_vmi(json::Value& vmi, const json::Value& old, Writer writer) {
    if (writer == Writer::component) return;
    if (const json::Value* status = json::find(old, "/status")) {
        json::set(vmi, "/status", *status);
    } else {
        json::erase(vmi, "/status");
    }
}

}  // namespace berth::placement
