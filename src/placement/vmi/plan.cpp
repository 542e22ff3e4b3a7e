// Puts a pass together: one patch for everything that changes on the VMI, what changes on its pod, then what to do
// next.
#include "api/codec.hpp"
#include "placement/conditions.hpp"
#include "placement/names.hpp"
#include "placement/vmi/facts.hpp"
#include "placement/vmi/sync.hpp"

namespace berth::placement::vmi {
namespace {

constexpr const char* kLegacyFinalizer = "foregroundDeleteVirtualMachine";
constexpr const char* kUnpaused = "kubevirt.io/virtual-machine-unpaused";

// I-31 and I-32: a finished machine keeps its finalizers until its pods, and its owner, are gone.
std::vector<std::string> finalizers_after(const View& view, const api::VmiStatus& status) {
    std::vector<std::string> out = view.vmi->metadata.finalizers;
    if (status.phase != "Succeeded" && status.phase != "Failed") return out;
    if (view.pods.empty())
        std::erase_if(out, [](const auto& f) { return f == kVmiFinalizer || f == kLegacyFinalizer; });
    const api::OwnerReference* owner = view.vmi->metadata.controller();
    const bool has_owner = view.has_vm && owner != nullptr && owner->kind == "VirtualMachine";
    if (!has_owner) std::erase(out, kVmFinalizer);
    return out;
}

std::optional<api::Patch> vmi_patch(const View& view, const api::VmiStatus& desired) {
    const api::VirtualMachineInstance& vmi = *view.vmi;
    json::Value patch = json::Object();
    if (auto changes = api::patch_between(vmi.status, desired)) json::set(patch, "/status", std::move(*changes));
    const std::vector<std::string> finalizers = finalizers_after(view, desired);
    if (finalizers != vmi.metadata.finalizers) {
        json::Array list;
        for (const std::string& one : finalizers) list.push_back(json::Value(one));
        json::set(patch, "/metadata/finalizers", std::move(list));
    }
    const std::string* label = vmi.metadata.label(kLabelNodeName);
    if (!desired.node_name.empty() && (label == nullptr || *label != desired.node_name)) {
        json::set(
            patch,
            "/metadata/labels",
            json::Object{
                {kLabelNodeName, desired.node_name}
        }
        );
    }
    for (const char* key : {kLatestApiVersion, kStorageApiVersion}) {
        const std::string* version = vmi.metadata.annotation(key);
        if (version != nullptr && *version == "v1") continue;
        json::set(patch, "/metadata/annotations/" + json::escape_key(key), json::Value("v1"));
    }
    if (patch.get_object().empty()) return {};
    // Lists are replaced whole: a view that has aged must not undo what the node's agent wrote.
    return api::Patch{
        .key = key_of(vmi),
        .part = api::Part::object,
        .patch = std::move(patch),
        .uid = vmi.metadata.uid,
        .at = vmi.metadata.resource_version
    };
}

// The pod is ready only while the guest is not paused: its readiness gate is ours to open and close.
std::optional<api::Patch> gate_patch(const View& view, const api::VmiStatus& status, const api::Pod& pod) {
    if (is_down_or_going_down(pod)) return {};
    const bool is_paused = has_condition(status.conditions, "Paused", "True");
    std::vector<api::Condition> conditions = pod.status.conditions;
    const bool changed = update_condition(
        conditions,
        {.type = kUnpaused,
         .status = is_paused ? "False" : "True",
         .reason = is_paused ? "Paused" : "NotPaused",
         .message = is_paused ? "the virtual machine is paused" : "the virtual machine is not paused",
         .last_transition_time = view.now}
    );
    if (!changed) return {};
    json::Array list;
    for (const api::Condition& condition : conditions) list.push_back(api::encode(condition));
    return api::Patch{
        .key = key_of(pod),
        .part = api::Part::status,
        .patch = json::Object{{"status", json::Object{{"conditions", std::move(list)}}}},
        .uid = pod.metadata.uid,
        .at = pod.metadata.resource_version,
    };
}

std::optional<api::Patch> label_patch(const api::VmiStatus& status, const api::Pod& pod) {
    const std::string* label = pod.metadata.label(kLabelNodeName);
    if (status.node_name.empty() || (label != nullptr && *label == status.node_name)) return {};
    json::Object labels{
        {kLabelNodeName, status.node_name}
    };
    return api::Patch{
        .key = key_of(pod),
        .part = api::Part::object,
        .patch = json::Object{{"metadata", json::Object{{"labels", std::move(labels)}}}},
        .uid = pod.metadata.uid,
    };
}

// A pod that this pass makes wakes the machine again: what its conditions say can be written then, with the pod in it.
bool is_followed_by_another_pass(const View& view, const api::VmiStatus& desired, const Outcome& outcome) {
    const auto is_create = [](const api::Intent& intent) { return std::holds_alternative<api::Create>(intent); };
    return !outcome.error && desired.phase == view.vmi->status.phase &&
           std::ranges::any_of(outcome.plan.intents, is_create);
}

}  // namespace

api::Plan plan(const View& view) {
    Outcome outcome = sync(view);
    const api::VmiStatus desired = status(view, outcome);
    std::vector<api::Intent> intents;
    if (!is_followed_by_another_pass(view, desired, outcome)) {
        if (auto patch = vmi_patch(view, desired)) intents.push_back(std::move(*patch));
    }
    if (const api::Pod* pod = launcher(view);
        pod != nullptr && (desired.phase == "Scheduled" || desired.phase == "Running")) {
        // The status patch names the version it saw; the label comes after it, so that it cannot make it stale.
        if (auto patch = gate_patch(view, desired, *pod)) intents.push_back(std::move(*patch));
        if (auto patch = label_patch(desired, *pod)) intents.push_back(std::move(*patch));
    }
    for (api::Intent& intent : outcome.plan.intents) intents.push_back(std::move(intent));
    outcome.plan.intents = std::move(intents);
    return std::move(outcome.plan);
}

}  // namespace berth::placement::vmi
