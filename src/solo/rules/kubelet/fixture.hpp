// A pod on a node as the kubelet's tests build it, step by step, and short forms of what a plan says.
#pragma once

#include "solo/rules/fixture.hpp"
#include "solo/rules/kubelet/facts.hpp"

namespace berth::solo::testing {

using namespace kubelet;

struct Seen {
    View view;

    explicit Seen(api::Pod pod) {
        view.key = {&api::kPod, pod.metadata.ns, pod.metadata.name};
        view.uid = pod.metadata.uid;
        pod.spec.node_name = "n1";
        pod.metadata.resource_version = {"5"};
        view.pod = std::move(pod);
        view.node = node("n1");
        view.node_address = "10.0.0.1";
        view.now = at(100);
        view.has_directory = true;
    }
    Seen& created(const char* name, int attempt = 0) { return add(name, attempt, ContainerPhase::created); }
    Seen& running(const char* name, int attempt = 0, int since = 90) {
        add(name, attempt, ContainerPhase::running).view.containers.back().started_at = at(since);
        return *this;
    }
    Seen& exited(const char* name, int code, int finished = 95, int attempt = 0, int started = 90) {
        ContainerInfo& info = add(name, attempt, ContainerPhase::exited).view.containers.back();
        info.exit_code = code;
        info.started_at = at(started);
        info.finished_at = at(finished);
        return *this;
    }
    Seen& add(const char* name, int attempt, ContainerPhase phase) {
        ContainerInfo info;
        info.pod_uid = view.uid;
        info.name = name;
        info.attempt = attempt;
        info.id = std::string(name) + "-" + std::to_string(attempt);
        info.phase = phase;
        view.containers.push_back(info);
        return *this;
    }
    Seen& with(auto change) {
        change(view);
        return *this;
    }
    /// The status that this view gives is what the API has.
    Seen& told() {
        view.pod->status = status_of(view);
        return *this;
    }
};

/// The effects and deletions of a plan, a line each; its status patch and events left out.
inline std::string acts(const api::Plan& plan) {
    std::string out;
    for (const api::Intent& intent : plan.intents) {
        if (std::holds_alternative<api::Patch>(intent) || std::holds_alternative<api::Emit>(intent)) continue;
        if (!out.empty()) out += "; ";
        out += api::print(intent);
        if (const auto* effect = std::get_if<api::Effect>(&intent)) {
            if (const auto signal = json::text_at(effect->args, "/signal"); !signal.empty())
                out += " " + std::string(signal);
        }
    }
    return out;
}

inline const api::Patch* status_patch(const api::Plan& plan) {
    for (const api::Intent& intent : plan.intents) {
        if (const auto* patch = std::get_if<api::Patch>(&intent)) return patch;
    }
    return nullptr;
}

inline std::string event_of(const api::Plan& plan) {
    for (const api::Intent& intent : plan.intents) {
        if (const auto* event = std::get_if<api::Emit>(&intent)) return event->reason + ": " + event->message;
    }
    return {};
}

inline api::Pod never(const char* name = "tp") {
    api::Pod out = pod(name);
    out.spec.restart_policy = "Never";
    return out;
}

inline api::Pod with_sidecar(api::Pod out) {
    out.spec.init_containers.push_back({.name = "log", .image = "i", .restart_policy = "Always"});
    return out;
}

inline api::Pod with_init(api::Pod out) {
    out.spec.init_containers.push_back({.name = "init", .image = "i"});
    return out;
}

inline api::Pod deleted(api::Pod out, int when) {
    out.metadata.deletion_timestamp = at(when);
    out.metadata.deletion_grace_period_seconds = 30;
    return out;
}

inline api::Pod policy(api::Pod out, const char* restart) {
    out.spec.restart_policy = restart;
    return out;
}

}  // namespace berth::solo::testing
