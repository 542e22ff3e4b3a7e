#include "placement/vm/disks.hpp"

#include "placement/conditions.hpp"
#include "placement/names.hpp"

namespace berth::placement::vm {
namespace {

api::Emit event(const View& view, std::string_view reason, std::string message, bool is_warning) {
    return {key_of(*view.vm), view.vm->metadata.uid, is_warning, std::string(reason), std::move(message)};
}

const std::string& name_of(const Template& entry) { return entry.wanted->metadata.name; }

// The template as it was written, fields we do not know included.
json::Value written_template(const View& view, std::size_t index) {
    const json::Value* found = json::find(*view.document, "/spec/dataVolumeTemplates/" + std::to_string(index));
    return found == nullptr ? json::Value(json::Object()) : *found;
}

json::Value data_volume_for(const View& view, std::size_t index) {
    const api::VirtualMachine& vm = *view.vm;
    const json::Value written = written_template(view, index);
    json::Value out = json::Object{
        {"apiVersion", api::kDataVolume.api_version()},
        {"kind",       api::kDataVolume.kind         }
    };
    json::Object metadata{
        {"name",      name_of(view.templates[index])},
        {"namespace", vm.metadata.ns                }
    };
    for (const char* part : {"labels", "annotations"}) {
        const json::Value* copied = json::find(written, std::string("/metadata/") + part);
        metadata[part] = copied != nullptr && copied->is_object() ? *copied : json::Value(json::Object());
    }
    metadata["labels"].get_object()[kLabelCreatedBy] = vm.metadata.uid.value;
    metadata["annotations"].get_object()[kAllowClaimAdoption] = "true";
    const api::OwnerReference owner = owned_by(vm);
    metadata["ownerReferences"] = json::Array{
        json::Object{
                     {"apiVersion", owner.api_version},
                     {"kind", owner.kind},
                     {"name", owner.name},
                     {"uid", owner.uid.value},
                     {"controller", true},
                     {"blockOwnerDeletion", true},
                     }
    };
    json::set(out, "/metadata", std::move(metadata));
    const json::Value* spec = json::find(written, "/spec");
    json::set(out, "/spec", spec == nullptr ? json::Value(json::Object()) : *spec);
    const std::string& priority = vm.spec.vmi_template ? vm.spec.vmi_template->spec.priority_class_name : std::string();
    if (json::text_at(out, "/spec/priorityClassName").empty() && !priority.empty()) {
        json::set(out, "/spec/priorityClassName", json::Value(priority));
    }
    return out;
}

// A clone whose source is not there yet is not made: its controller could only wait, and under a worse name.
bool lacks_clone_source(const Template& entry) {
    const auto& source = entry.wanted->spec.source;
    return source && source->pvc && entry.clone_source == nullptr;
}

void make(DiskOutcome& out, const View& view, std::size_t index) {
    const Template& entry = view.templates[index];
    if (lacks_clone_source(entry)) {
        const api::NamedSource& source = *entry.wanted->spec.source->pvc;
        const std::string ns = source.ns.empty() ? view.vm->metadata.ns : source.ns;
        const std::string text =
            "source PVC " + ns + "/" + source.name + " of DataVolume " + name_of(entry) + " does not exist";
        out.intents.push_back(event(view, "SourcePVCNotAvailabe", text, true));
        out.error = text;
        return;
    }
    const bool has_failed = failed_to_create(view.failed, api::kDataVolume, name_of(entry));
    const bool claim_is_in_the_way =
        has_failed && entry.claim != nullptr && view.failed->message.find("already exists") != std::string::npos;
    if (has_failed && !claim_is_in_the_way) {
        out.error = "failed to create DataVolume " + name_of(entry) + ": " + view.failed->message;
        out.intents.push_back(event(
            view,
            "FailedDataVolumeCreate",
            "Error creating DataVolume " + name_of(entry) + ": " + view.failed->message,
            true
        ));
    }
    out.intents.push_back(api::Create{data_volume_for(view, index)});
    out.intents.push_back(event(view, "SuccessfulDataVolumeCreate", "Created DataVolume " + name_of(entry), false));
}

bool exceeds_quota(const api::DataVolume& disk) {
    const api::Condition* bound = api::find_condition(disk.status.conditions, "Bound");
    return disk.status.phase == "Pending" && bound != nullptr && bound->status != "True" &&
           bound->reason == "ErrExceededQuota";
}

void watch(DiskOutcome& out, const View& view, const Template& entry) {
    const std::string& phase = entry.disk->status.phase;
    if (phase == "Succeeded" || phase == "WaitForFirstConsumer" || phase == "PendingPopulation") return;
    out.ready = false;
    if (phase == "Failed") {
        out.intents.push_back(
            event(view, "FailedDataVolumeImport", "DataVolume " + name_of(entry) + " failed to import disk image", true)
        );
    } else if (exceeds_quota(*entry.disk)) {
        const std::string& why = api::find_condition(entry.disk->status.conditions, "Bound")->message;
        out.intents.push_back(
            event(view, "FailedDataVolumeImport", "DataVolume " + name_of(entry) + " exceeds quota limits", true)
        );
        out.error = "DataVolume " + name_of(entry) + " importer is not running due to an error: " + why;
    }
}

}  // namespace

DiskOutcome disks(const View& view) {
    DiskOutcome out;
    std::vector<std::size_t> last;  // one that failed before must not keep the others from being made
    for (std::size_t i = 0; i < view.templates.size() && !out.error; ++i) {
        const Template& entry = view.templates[i];
        if (entry.disk != nullptr) {
            watch(out, view, entry);
        } else {
            out.ready = false;
            if (failed_to_create(view.failed, api::kDataVolume, name_of(entry))) {
                last.push_back(i);
            } else {
                make(out, view, i);
            }
        }
        if (!out.ready && out.waits_on == nullptr) out.waits_on = &entry;
    }
    for (const std::size_t i : last) {
        if (!out.error) make(out, view, i);
    }
    return out;
}

}  // namespace berth::placement::vm
