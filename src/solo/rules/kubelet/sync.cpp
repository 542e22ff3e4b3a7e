// One pass over a pod of this node, top to bottom. The first rule that applies decides; the status is always told.
// Source: docs/spec/placement.md K-93, K-94; https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/
#include "api/codec.hpp"
#include "solo/rules/kubelet/facts.hpp"

namespace berth::solo::kubelet {
namespace {

using api::Delete;
using api::Effect;
using api::Emit;
using api::Plan;

Effect effect(const View& view, std::string verb, std::string on, json::Object args = {}) {
    args["uid"] = view.uid.value;
    return {std::move(verb), std::move(on), std::move(args)};
}

std::string pod_text(const View& view) { return "pod/" + view.key.ns + "/" + view.key.name; }

std::optional<std::string> unready_volume(const View& view, const api::PodVolume& volume) {
    if (volume.persistent_volume_claim) {
        const std::string& name = volume.persistent_volume_claim->claim_name;
        const auto claim = view.claims.find(name);
        if (claim == view.claims.end()) return "persistentvolumeclaim \"" + name + "\" not found";
        if (claim->second.status.phase != "Bound") return "persistentvolumeclaim \"" + name + "\" is not bound yet";
        if (!view.volumes.contains(claim->second.spec.volume_name)) {
            return "persistentvolume \"" + claim->second.spec.volume_name + "\" not found";
        }
    }
    if (volume.config_map && !volume.config_map->optional && !view.config_maps.contains(volume.config_map->name)) {
        return "configmap \"" + volume.config_map->name + "\" not found";
    }
    if (volume.secret && !volume.secret->optional && !view.secrets.contains(volume.secret->secret_name)) {
        return "secret \"" + volume.secret->secret_name + "\" not found";
    }
    return {};
}

Emit warning(const View& view, std::string reason, std::string message) {
    return {view.key, view.uid, true, std::move(reason), std::move(message)};
}

// --- what is done ---

// What the node still has of a pod that the API no longer knows.
Plan clean_up(const View& view) {
    Plan plan;
    for (const ContainerInfo& info : view.containers) {
        if (info.phase == ContainerPhase::exited) {
            plan.add(effect(view, "remove container", info.id, {{"id", info.id}}));
        } else if (!view.signalled.contains(info.id + " KILL")) {
            plan.add(effect(view, "signal container", info.id, {{"id", info.id}, {"signal", "KILL"}}));
        }
    }
    const bool all_ended = std::ranges::all_of(view.containers, [](const auto& c) { return c.phase == ContainerPhase::exited; });
    if (view.has_directory && all_ended) plan.add(effect(view, "remove pod directory", view.uid.value));
    return plan;
}

Plan stop(const View& view) {
    Plan plan;
    const Timestamp deadline = *view.pod->metadata.deletion_timestamp;
    bool runs = false;
    for (const ContainerInfo& info : view.containers) {
        if (info.phase == ContainerPhase::exited) continue;
        runs = true;
        if (view.now >= deadline && !view.signalled.contains(info.id + " KILL")) {
            plan.add(effect(view, "signal container", info.id, {{"id", info.id}, {"signal", "KILL"}}));
        } else if (view.now < deadline && !view.signalled.contains(info.id + " TERM")) {
            plan.add(effect(view, "signal container", info.id, {{"id", info.id}, {"signal", "TERM"}}));
        }
    }
    if (!runs) {
        plan.add(Delete{view.key, view.uid, 0});
        return plan;
    }
    plan.wait = api::Wait{"containers", view.key, "they are given their grace period to end"};
    if (view.now < deadline) plan.look_again_at = deadline;
    return plan;
}

Plan make_directory(const View& view) { return api::want(effect(view, "make pod directory", view.uid.value)); }

Plan prepare_volumes(const View& view) {
    Plan plan;
    for (const api::PodVolume& volume : view.pod->spec.volumes) {
        if (view.prepared.contains(volume.name)) continue;
        if (const auto missing = unready_volume(view, volume)) {
            plan.add(warning(view, "FailedMount", "MountVolume.SetUp failed for volume \"" + volume.name + "\": " + *missing));
            plan.wait = api::Wait{"volume", view.key, *missing};
            continue;
        }
        const auto failed = view.volume_failures.find(volume.name);
        if (failed != view.volume_failures.end() && view.now < failed->second.at + backoff(failed->second.count)) {
            plan.add(warning(view, "FailedMount", "MountVolume.SetUp failed for volume \"" + volume.name + "\": " + failed->second.message));
            plan.wait = api::Wait{"node", view.key, failed->second.message};
            plan.look_again_at = failed->second.at + backoff(failed->second.count);
            continue;
        }
        plan.add(effect(view, "prepare volume", pod_text(view) + " " + volume.name, {{"volume", volume.name}}));
    }
    return plan;
}

Plan start_next(const View& view) {
    const Step step = *next_step(view);
    Plan plan;
    const auto failed = view.start_failures.find(step.container->name);
    if (failed != view.start_failures.end() && step.attempt == 0) {
        plan.add(warning(view, "Failed", "Error: " + failed->second.message));
    }
    if (step.not_before && view.now < *step.not_before) {
        plan.wait = api::Wait{"backoff", view.key, "container \"" + step.container->name + "\" is started again after a pause"};
        plan.look_again_at = step.not_before;
        return plan;
    }
    plan.add(effect(
        view, "start container", pod_text(view) + " " + step.container->name + " " + std::to_string(step.attempt),
        {{"container", step.container->name}, {"attempt", step.attempt}}
    ));
    return plan;
}

Plan watch(const View&) { return api::settled(); }

Plan leave(const View&) { return api::settled(); }

constexpr api::Rule<View> kSync[] = {
    {"K-93", "gone-pod-leaves-nothing", is_gone, clean_up},
    {"K-93", "deleted-pod-ends-in-its-grace-period", is_deleting, stop},
    {"K-90", "finished-pod-is-left-alone", is_terminal, leave},
    {"K-94", "a-pod-has-a-directory", lacks_directory, make_directory},
    {"K-94", "volumes-come-before-containers", lacks_volume, prepare_volumes},
    {"L-20", "containers-start-in-order", has_step, start_next},
    {"K-94", "running-pod-is-watched", api::always<View>, watch},
};

}  // namespace

api::Plan sync(const View& view) {
    Plan plan = api::first_match(kSync, view);
    if (!view.pod) return plan;
    const api::PodStatus status = status_of(view);
    if (auto patch = api::patch_between(view.pod->status, status)) {
        // Told before anything else is done: a delete in the same plan must find the truth written.
        api::Patch tell{view.key, api::Part::status, json::Object{{"status", std::move(*patch)}}, view.uid};
        plan.intents.insert(plan.intents.begin(), std::move(tell));
    }
    return plan;
}

}  // namespace berth::solo::kubelet
