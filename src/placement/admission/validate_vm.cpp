// A VM beyond its machine: run strategy, and the templates of its disks.
#include "api/codec.hpp"
#include "base/ranges.hpp"
#include "placement/admission/validate.hpp"

namespace berth::placement {
namespace {

using api::Cause;
using Causes = std::vector<Cause>;

constexpr std::string_view kStrategies[] = {"Always", "Halted", "Manual", "RerunOnFailure", "Once", "WaitAsReceiver"};

void check_strategy(Causes& out, const api::VmSpec& spec) {
    if (spec.running && !spec.run_strategy.empty()) {
        out.push_back(
            {"FieldValueInvalid",
             "Running and RunStrategy are mutually exclusive. Note that Running is deprecated, please use RunStrategy "
             "instead",
             "spec.running"}
        );
    } else if (!spec.running && spec.run_strategy.empty()) {
        out.push_back({"FieldValueRequired", "One of Running or RunStrategy must be specified", "spec.runStrategy"});
    } else if (!spec.run_strategy.empty() && !contains(kStrategies, spec.run_strategy)) {
        out.push_back(
            {"FieldValueInvalid",
             "Invalid RunStrategy (" + spec.run_strategy + "): use one of Always, Halted, Manual, RerunOnFailure, Once",
             "spec.runStrategy"}
        );
    }
}

bool has_claim_source(const std::optional<api::ClaimSpec>& claim) {
    return claim && (claim->data_source || claim->data_source_ref);
}

void check_source(Causes& out, const api::DataVolumeSpec& spec, const std::string& field) {
    const auto refuse = [&](const char* message, const char* part = "") {
        out.push_back({"FieldValueInvalid", message, field + ".spec" + part});
    };
    const bool is_external = has_claim_source(spec.pvc) || has_claim_source(spec.storage);
    if (is_external && (spec.source || spec.source_ref)) {
        refuse("External population is incompatible with Source and SourceRef");
    } else if (!is_external && !spec.source && !spec.source_ref) {
        refuse("Data volume should have either Source, SourceRef, or be externally populated");
    } else if (spec.source && spec.source_ref) {
        refuse("Data volume should have either Source or SourceRef, not both: remove one");
    }
    if (!spec.source) return;
    const int count = spec.source->member_count();
    if (count == 0) refuse("Missing dataVolume valid source", ".source");
    if (count > 1) refuse("Multiple dataVolume sources", ".source");
}

bool is_referenced(const api::VmSpec& spec, const std::string& name) {
    if (!spec.vmi_template) return false;
    return std::ranges::any_of(spec.vmi_template->spec.volumes, [&](const api::VmVolume& volume) {
        return (volume.data_volume && volume.data_volume->name == name) ||
               (volume.persistent_volume_claim && volume.persistent_volume_claim->claim_name == name);
    });
}

void check_template(Causes& out, const api::VirtualMachine& vm, std::size_t index) {
    const api::DataVolumeTemplate& entry = vm.spec.data_volume_templates[index];
    const std::string plural = "spec.dataVolumeTemplates[" + std::to_string(index) + "]";
    const std::string singular =
        "spec.dataVolumeTemplate[" + std::to_string(index) + "]";  // sic: clients know this path
    if (entry.metadata.name.empty()) {
        out.push_back(
            {"FieldValueRequired",
             "'name' field must not be empty for DataVolumeTemplate entry " + singular + ".",
             singular + ".name"}
        );
    }
    if (!entry.metadata.ns.empty() && entry.metadata.ns != vm.metadata.ns) {
        out.push_back(
            {"FieldValueInvalid",
             "Embedded DataVolume namespace " + entry.metadata.ns + " differs from VM namespace " + vm.metadata.ns,
             plural}
        );
    }
    if (!entry.spec.pvc && !entry.spec.storage) {
        out.push_back({"FieldValueInvalid", "Missing Data volume PVC or Storage", plural + ".spec"});
    } else if (entry.spec.pvc && entry.spec.storage) {
        out.push_back(
            {"FieldValueInvalid",
             "Duplicate storage definition, both target storage and target pvc defined",
             plural + ".spec"}
        );
    }
    check_source(out, entry.spec, plural);
    if (!entry.metadata.name.empty() && !is_referenced(vm.spec, entry.metadata.name)) {
        out.push_back(
            {"FieldValueRequired",
             "DataVolumeTemplate entry " + singular + " must be referenced in the VMI template's 'volumes' list",
             singular}
        );
    }
    const auto same = [&](const api::DataVolumeTemplate& other) {
        return &other < &entry && other.metadata.name == entry.metadata.name;
    };
    if (!entry.metadata.name.empty() && std::ranges::any_of(vm.spec.data_volume_templates, same)) {
        out.push_back(
            {"FieldValueDuplicate",
             "two DataVolumeTemplates have the same name \"" + entry.metadata.name + "\"",
             plural + ".metadata.name"}
        );
    }
}

}  // namespace

std::vector<Cause> validate_vm(const json::Value& object, const json::Value* old) {
    if (old != nullptr) {
        const json::Value* before = json::find(*old, "/spec");
        const json::Value* after = json::find(object, "/spec");
        if (before != nullptr && after != nullptr && json::equal(*before, *after)) return {};
    }
    const auto vm = api::decode<api::VirtualMachine>(object);
    if (!vm)
        return {
            {"FieldValueInvalid", vm.error().message, "spec"}
        };
    Causes out;
    check_strategy(out, vm->spec);
    if (!vm->spec.vmi_template) {
        out.push_back({"FieldValueRequired", "missing virtual machine template.", "spec.template"});
    } else {
        std::ranges::move(validate_spec(vm->spec.vmi_template->spec, "spec.template.spec"), std::back_inserter(out));
    }
    for (std::size_t i = 0; i < vm->spec.data_volume_templates.size(); ++i) check_template(out, *vm, i);
    return out;
}

}  // namespace berth::placement
