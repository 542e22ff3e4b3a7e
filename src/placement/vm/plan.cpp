// Puts a pass together: the status first, then what is done, then the finalizer of a finished machine.
#include "api/codec.hpp"
#include "placement/names.hpp"
#include "placement/vm/facts.hpp"
#include "placement/vm/sync.hpp"

namespace berth::placement::vm {
namespace {

std::optional<api::Patch> status_patch(const View& view, const api::VmStatus& desired) {
    auto changes = api::patch_between(view.vm->status, desired);
    if (!changes) return {};
    // Requests are a list that users append to: a patch made on an older view must not take theirs away.
    return api::Patch{
        .key = key_of(*view.vm),
        .part = api::Part::status,
        .patch = json::Object{{"status", std::move(*changes)}},
        .uid = view.vm->metadata.uid,
        .at = view.vm->metadata.resource_version,
    };
}

// V-43: a machine that is over is let go of, so that it can be deleted.
std::optional<api::Patch> release_machine(const View& view) {
    if (view.vmi == nullptr || !vmi_is_final(view) || !view.vmi->metadata.has_finalizer(kVmFinalizer)) return {};
    json::Array left;
    for (const std::string& finalizer : view.vmi->metadata.finalizers) {
        if (finalizer != kVmFinalizer) left.push_back(json::Value(finalizer));
    }
    return api::Patch{
        .key = key_of(*view.vmi),
        .part = api::Part::object,
        .patch = json::Object{{"metadata", json::Object{{"finalizers", std::move(left)}}}},
        .uid = view.vmi->metadata.uid,
        .at = view.vmi->metadata.resource_version,
    };
}

bool names_the_vm_version(const View& view, const api::Intent& intent) {
    const auto* patch = std::get_if<api::Patch>(&intent);
    return patch != nullptr && patch->key == key_of(*view.vm) && patch->at.has_value();
}

}  // namespace

api::Plan plan(const View& view) {
    Pass pass = sync(view);
    api::Plan plan = std::move(pass.outcome.plan);
    const api::VmStatus desired = status(view, pass);
    std::vector<api::Intent> intents;
    // A pass that patches the VM's metadata on this version leaves the status to the next one.
    const bool patches_itself =
        std::ranges::any_of(plan.intents, [&](const auto& intent) { return names_the_vm_version(view, intent); });
    if (!patches_itself) {
        if (auto patch = status_patch(view, desired)) intents.push_back(std::move(*patch));
    }
    for (api::Intent& intent : plan.intents) intents.push_back(std::move(intent));
    if (auto patch = release_machine(view)) intents.push_back(std::move(*patch));
    plan.intents = std::move(intents);
    const auto& failure = desired.start_failure;
    if (!plan.look_again_at && failure && failure->retry_after_timestamp &&
        *failure->retry_after_timestamp > view.now) {
        plan.look_again_at = failure->retry_after_timestamp;
    }
    return plan;
}

}  // namespace berth::placement::vm
