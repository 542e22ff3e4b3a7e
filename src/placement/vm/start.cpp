#include "placement/vm/start.hpp"

#include <set>

#include "placement/names.hpp"
#include "placement/vm/facts.hpp"

namespace berth::placement::vm {
namespace {

json::Value owner_reference(const api::VirtualMachine& vm) {
    const api::OwnerReference owner = owned_by(vm);
    return json::Object{
        {"apiVersion",         owner.api_version},
        {"kind",               owner.kind       },
        {"name",               owner.name       },
        {"uid",                owner.uid.value  },
        {"controller",         true             },
        {"blockOwnerDeletion", true             },
    };
}

json::Value copied(const json::Value& root, std::string_view pointer) {
    const json::Value* found = json::find(root, pointer);
    return found != nullptr && found->is_object() ? *found : json::Value(json::Object());
}

bool is_drive(const json::Value& disk) {
    const json::Value* target = json::find(disk, "/cdrom");
    return target != nullptr && target->is_object();
}

// Volumes that are plugged, and their disks, left out; and what a live machine never looks at. A CD-ROM drive stays:
// its medium comes and goes, but the drive itself is there from boot.
json::Value fixed_part(json::Value spec) {
    std::set<std::string, std::less<>> plugged;
    const json::Value* volumes = json::find(spec, "/volumes");
    const json::Array listed = volumes != nullptr && volumes->is_array() ? volumes->get_array() : json::Array();
    for (const json::Value& volume : listed) {
        for (const char* source : {"/dataVolume/hotpluggable", "/persistentVolumeClaim/hotpluggable"}) {
            if (json::bool_at(volume, source)) plugged.emplace(json::text_at(volume, "/name"));
        }
    }
    // A list that is empty and one that is not there say the same.
    const auto drop = [&](const char* pointer) {
        json::Array kept;
        if (json::Value* list = json::find(spec, pointer); list != nullptr && list->is_array()) {
            for (json::Value& entry : list->get_array()) {
                if (is_drive(entry) || !plugged.contains(json::text_at(entry, "/name")))
                    kept.push_back(std::move(entry));
            }
        }
        json::erase(spec, pointer);
        if (!kept.empty()) json::set(spec, pointer, std::move(kept));
    };
    drop("/volumes");
    drop("/domain/devices/disks");
    const json::Value* devices = json::find(spec, "/domain/devices");
    if (devices != nullptr && devices->is_object() && devices->get_object().empty())
        json::erase(spec, "/domain/devices");
    return spec;
}

}  // namespace

json::Value vmi_for(const View& view) {
    const api::VirtualMachine& vm = *view.vm;
    json::Value out = json::Object{
        {"apiVersion", api::kVmi.api_version()},
        {"kind",       api::kVmi.kind         }
    };
    json::Object annotations = copied(*view.document, "/spec/template/metadata/annotations").get_object();
    annotations[kVmGeneration] = std::to_string(vm.metadata.generation);
    annotations[kLatestApiVersion] = "v1";
    annotations[kStorageApiVersion] = "v1";
    if (run_strategy(vm) == "WaitAsReceiver") annotations[kCreateMigrationTarget] = "true";
    json::set(
        out,
        "/metadata",
        json::Object{
            {"name", vm.metadata.name},
            {"namespace", vm.metadata.ns},
            {"labels", copied(*view.document, "/spec/template/metadata/labels")},
            {"annotations", std::move(annotations)},
            {"ownerReferences", json::Array{owner_reference(vm)}},
            {"finalizers", json::Array{json::Value(kVmFinalizer)}},
    }
    );
    json::set(out, "/spec", copied(*view.document, "/spec/template/spec"));
    if (json::text_at(out, "/spec/domain/firmware/uuid").empty()) {
        json::set(out, "/spec/domain/firmware/uuid", json::Value(uuid_from("firmware " + vm.metadata.uid.value)));
    }
    if (const api::StateChangeRequest* request = start_request(view); request != nullptr) {
        const auto paused = request->data.find("paused");
        if (paused != request->data.end() && paused->second == "true")
            json::set(out, "/spec/startStrategy", json::Value("Paused"));
    }
    json::set(
        out, "/status/virtualMachineRevisionName", json::Value(revision_name(vm.metadata.uid, vm.metadata.generation))
    );
    return out;
}

json::Value revision_for(const View& view) {
    const api::VirtualMachine& vm = *view.vm;
    return json::Object{
        {"apiVersion", api::kControllerRevision.api_version()                 },
        {"kind",       api::kControllerRevision.kind                          },
        {"metadata",
         json::Object{
             {"name", revision_name(vm.metadata.uid, vm.metadata.generation)},
             {"namespace", vm.metadata.ns},
             {"ownerReferences", json::Array{owner_reference(vm)}},
         }                                                                    },
        {"data",       json::Object{{"spec", copied(*view.document, "/spec")}}},
        {"revision",   vm.metadata.generation                                 },
    };
}

bool has_revision(const View& view) {
    const std::string wanted = revision_name(view.vm->metadata.uid, view.vm->metadata.generation);
    return std::ranges::any_of(view.revisions, [&](const api::ControllerRevision* r) {
        return r->metadata.name == wanted;
    });
}

bool needs_restart(const View& view) {
    if (view.vmi == nullptr || view.vmi->is_final() || view.vmi->metadata.is_deleting()) return false;
    const std::string& started_with = view.vmi->status.virtual_machine_revision_name;
    const auto it = std::ranges::find_if(view.revisions, [&](const api::ControllerRevision* r) {
        return r->metadata.name == started_with;
    });
    if (it == view.revisions.end()) return false;
    const json::Value before = fixed_part(copied((*it)->data, "/spec/template/spec"));
    const json::Value now = fixed_part(copied(*view.document, "/spec/template/spec"));
    return !json::equal(before, now);
}

}  // namespace berth::placement::vm
