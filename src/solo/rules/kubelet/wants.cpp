#include "solo/rules/kubelet/wants.hpp"

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

Emit warning(const View& view, std::string reason, std::string message) {
    return {view.key, view.uid, true, std::move(reason), std::move(message)};
}

void send(const View& view, const ContainerInfo& info, const std::string& signal, Plan& plan) {
    if (view.signalled.contains(info.id + " " + signal)) return;
    plan.add(effect(
        view,
        "signal container",
        info.id,
        {
            {"id",     info.id},
            {"signal", signal }
    }
    ));
}

// The others first: what stands beside them ends last.
void end_containers(const View& view, Timestamp deadline, Plan& plan) {
    const auto runs = [](const ContainerInfo& info) { return info.phase != ContainerPhase::exited; };
    const bool main_runs = std::ranges::any_of(view.containers, [&](const ContainerInfo& info) {
        return runs(info) && !is_sidecar_name(view, info.name);
    });
    const bool is_late = view.now >= deadline;
    for (const ContainerInfo& info : view.containers) {
        if (!runs(info)) continue;
        if (is_late) {
            send(view, info, "KILL", plan);
        } else if (!main_runs || !is_sidecar_name(view, info.name)) {
            send(view, info, "TERM", plan);
        }
    }
    plan.wait = api::Wait{
        "containers", view.key, is_late ? "they were killed, and end any moment" : "they have a grace period to end"
    };
    if (!is_late) plan.look_again_at = deadline;
}

void remove_all(const View& view, Plan& plan) {
    for (const ContainerInfo& info : view.containers) {
        plan.add(effect(
            view,
            "remove container",
            info.id,
            {
                {"id", info.id}
        }
        ));
    }
    if (view.has_directory) plan.add(effect(view, "remove pod directory", view.uid.value));
}

// Logs are asked for the last attempt and the one before.
void remove_old_attempts(const View& view, const Step& step, Plan& plan) {
    for (const ContainerInfo& info : view.containers) {
        if (info.name != step.container->name || info.attempt + 1 >= step.attempt ||
            info.phase != ContainerPhase::exited)
            continue;
        plan.add(effect(
            view,
            "remove container",
            info.id,
            {
                {"id", info.id}
        }
        ));
    }
}

std::string mount_text(const api::PodVolume& volume, const std::string& why) {
    return "MountVolume.SetUp failed for volume \"" + volume.name + "\": " + why;
}

}  // namespace

Plan look(const View& view) { return api::want(effect(view, "look at containers", view.key.name)); }

Plan clean_up(const View& view) {
    Plan plan;
    if (!has_running(view)) {
        remove_all(view, plan);
        return plan;
    }
    for (const ContainerInfo& info : view.containers) {
        if (info.phase != ContainerPhase::exited) send(view, info, "KILL", plan);
    }
    plan.wait = api::Wait{"containers", view.key, "they were killed, and end any moment"};
    return plan;
}

Plan end_deleted(const View& view) {
    Plan plan;
    if (has_running(view)) {
        end_containers(view, *view.pod->metadata.deletion_timestamp, plan);
        return plan;
    }
    // Volumes are let go before the object: who sees it gone may use them.
    remove_all(view, plan);
    plan.add(Delete{view.key, view.uid, 0});
    return plan;
}

Plan end_rest(const View& view) {
    Plan plan;
    end_containers(view, grace_ends_at(view), plan);
    return plan;
}

Plan leave(const View&) { return api::settled(); }

Plan watch(const View& view) {
    Plan plan;
    const auto& seconds = view.pod->spec.active_deadline_seconds;
    const Timestamp start = view.pod->status.start_time.value_or(view.now);
    if (seconds) plan.look_again_at = start + std::chrono::seconds(*seconds);
    return plan;
}

Plan make_directory(const View& view) { return api::want(effect(view, "make pod directory", view.uid.value)); }

Plan prepare_volumes(const View& view) {
    Plan plan;
    for (const api::PodVolume& volume : view.pod->spec.volumes) {
        if (view.prepared.contains(volume.name)) continue;
        const Result<VolumeRequest> request = volume_request(view, volume);
        const auto failed = view.volume_failures.find(volume.name);
        const bool is_pausing =
            failed != view.volume_failures.end() && view.now < failed->second.at + backoff(failed->second.count);
        if (request && !is_pausing) {
            plan.add(effect(
                view,
                "prepare volume",
                pod_text(view) + " " + volume.name,
                {
                    {"volume", volume.name}
            }
            ));
            continue;
        }
        const std::string& why = request ? failed->second.message : request.error().message;
        plan.add(warning(view, "FailedMount", mount_text(volume, why)));
        plan.wait = api::Wait{request ? "node" : "volume", view.key, why};
        if (request) plan.look_again_at = failed->second.at + backoff(failed->second.count);
    }
    return plan;
}

Plan start_next(const View& view) {
    const Step step = *next_step(view);
    const std::string& name = step.container->name;
    const auto failed = view.start_failures.find(name);
    Plan plan;
    if (failed != view.start_failures.end()) {
        plan.add(warning(view, "Failed", "Error: " + failed->second.reason + ": " + failed->second.message));
    }
    if (step.not_before && view.now < *step.not_before) {
        if (failed == view.start_failures.end()) {
            plan.add(warning(
                view,
                "BackOff",
                "Back-off restarting failed container " + name + " in pod " + view.key.name + "_" + view.key.ns + "(" +
                    view.uid.value + ")"
            ));
        }
        plan.wait = api::Wait{"backoff", view.key, "container \"" + name + "\" is started again after a pause"};
        plan.look_again_at = step.not_before;
        return plan;
    }
    remove_old_attempts(view, step, plan);
    plan.add(effect(
        view,
        "start container",
        pod_text(view) + " " + name + " " + std::to_string(step.attempt),
        {
            {"container", name        },
            {"attempt",   step.attempt}
    }
    ));
    return plan;
}

}  // namespace berth::solo::kubelet
