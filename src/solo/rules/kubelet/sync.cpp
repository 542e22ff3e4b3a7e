// One pass over a pod of this node, top to bottom. The first rule that applies decides; the status is told with it.
// Left out: probes (a container without one is ready while it runs, and so is one with), ephemeral containers.
// Source: docs/spec/placement.md K-93, K-94; https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/
#include "api/codec.hpp"
#include "solo/rules/kubelet/facts.hpp"
#include "solo/rules/kubelet/wants.hpp"

namespace berth::solo::kubelet {
namespace {

constexpr api::Rule<View> kSync[] = {
    {"K-93", "the-machine-is-looked-at-first",       is_unknown,        look           },
    {"K-93", "gone-pod-leaves-nothing",              is_gone,           clean_up       },
    {"K-93", "deleted-pod-ends-in-its-grace-period", is_deleting,       end_deleted    },
    {"L-24", "nothing-outlives-a-pod-that-is-over",  is_over_but_runs,  end_rest       },
    {"K-90", "finished-pod-is-left-alone",           is_over,           leave          },
    {"L-24", "running-pod-is-watched",               lacks_step,        watch          },
    {"K-94", "a-pod-has-a-directory",                lacks_directory,   make_directory },
    {"K-94", "volumes-come-before-containers",       lacks_volume,      prepare_volumes},
    {"L-20", "containers-start-in-order",            api::always<View>, start_next     },
};

// A pod nobody has heard of yet is told about when there is something to tell: a step that goes on at once is not.
bool is_moving(const View& view, const api::Plan& plan) {
    if (view.pod->status.start_time || plan.wait || is_deleting(view) || is_over(view)) return false;
    const bool is_starting = std::ranges::any_of(view.containers, [](const ContainerInfo& info) {
        return info.phase == ContainerPhase::created;
    });
    const bool has_effect = std::ranges::any_of(plan.intents, [](const api::Intent& intent) {
        return std::holds_alternative<api::Effect>(intent);
    });
    return is_starting || has_effect;
}

}  // namespace

api::Plan sync(const View& view) {
    api::Plan plan = api::first_match(kSync, view);
    if (!view.pod || !view.knows_containers || is_moving(view, plan)) return plan;
    auto patch = api::patch_between(view.pod->status, status_of(view));
    if (!patch) return plan;
    // Conditions are written as one list: what others put there since must not be lost.
    const bool has_list = json::find(*patch, "/conditions") != nullptr;
    const auto version = has_list ? std::optional(view.pod->metadata.resource_version) : std::nullopt;
    api::Patch tell{view.key, api::Part::status, json::Object{{"status", std::move(*patch)}}, view.uid, version};
    // Told before anything else is done: a delete in the same plan must find the truth written.
    plan.intents.insert(plan.intents.begin(), std::move(tell));
    return plan;
}

}  // namespace berth::solo::kubelet
