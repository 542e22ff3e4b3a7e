// A volume of ours whose claim is gone: first its data, then the object. Source: docs/spec/placement.md K-64, K-74
#include "solo/rules/storage/provisioner.hpp"

namespace berth::solo {
namespace {

using api::Delete;
using api::Effect;
using api::Emit;
using api::Patch;
using api::Plan;

bool volume_is_gone(const ReclaimView& view) { return !view.volume; }
bool is_not_ours(const ReclaimView& view) {
    const std::string* by = view.volume->metadata.annotation(kProvisionedBy);
    return by == nullptr || *by != kProvisioner;
}
bool is_released(const ReclaimView& view) {
    return view.volume->status.phase == "Released" && view.volume->spec.reclaim_policy == "Delete" &&
           !view.volume->metadata.is_deleting();
}
bool is_deleted(const ReclaimView& view) {
    return view.volume->metadata.is_deleting() && view.volume->status.phase != "Bound" &&
           view.volume->metadata.has_finalizer(kProvisionerFinalizer);
}

Plan leave(const ReclaimView&) { return api::settled(); }

std::optional<Effect> remove_data(const ReclaimView& view) {
    if (!view.node_exists || view.volume->spec.reclaim_policy != "Delete") return {};
    const std::string node = node_of(*view.volume);
    return Effect{
        "delete volume",
        view.volume->metadata.name + " on " + node,
        json::Object{{"node", node}, {"volume", view.volume->metadata.name}}
    };
}

void tell_failure(const ReclaimView& view, Plan& plan) {
    if (!view.failure) return;
    plan.add(Emit{view.key, view.volume->metadata.uid, true, "VolumeFailedDelete", view.failure->message});
}

Plan remove(const ReclaimView& view) {
    Plan plan;
    tell_failure(view, plan);
    if (auto effect = remove_data(view)) plan.add(std::move(*effect));
    plan.add(Delete{view.key, view.volume->metadata.uid});
    return plan;
}

Plan let_go(const ReclaimView& view) {
    Plan plan;
    tell_failure(view, plan);
    if (auto effect = remove_data(view)) plan.add(std::move(*effect));
    json::Array left;
    for (const std::string& finalizer : view.volume->metadata.finalizers) {
        if (finalizer != kProvisionerFinalizer) left.push_back(json::Value(finalizer));
    }
    plan.add(Patch{
        view.key,
        api::Part::object,
        json::Object{{"metadata", json::Object{{"finalizers", std::move(left)}}}},
        view.volume->metadata.uid,
        view.volume->metadata.resource_version
    });
    return plan;
}

constexpr api::Rule<ReclaimView> kReclaimRules[] = {
    {"K-64", "gone",                       volume_is_gone,           leave },
    {"K-64", "not-ours",                   is_not_ours,              leave },
    {"K-64", "released-volume-is-deleted", is_released,              remove},
    {"K-64", "deleted-volume-is-let-go",   is_deleted,               let_go},
    {"K-64", "in-use",                     api::always<ReclaimView>, leave },
};

}  // namespace

api::Plan reclaim(const ReclaimView& view) { return api::first_match(kReclaimRules, view); }

}  // namespace berth::solo
