#include "node/agent/worker_progress.hpp"

namespace berth::node {
namespace {

constexpr const char* kComponent = "cdi.kubevirt.io";  // label of every pod of the DataVolume system

bool is_worker(const api::Pod& pod) {
    const std::string* component = pod.metadata.label(kComponent);
    return component != nullptr && *component == "importer";
}

}  // namespace

WorkerProgress::WorkerProgress(kube::Engine& engine, std::string node, WorkerFigures& figures, Tell tell)
    : node_(std::move(node)), pods_(engine.cache<api::Pod>(api::kPod)), figures_(figures), tell_(std::move(tell)) {
    figures_.on_figure([this](const Uid& pod, const std::string& figure) {
        const auto it = followed_.find(pod);
        if (it != followed_.end()) tell_(it->second.claim, it->second.uid, figure);
    });
    pods_.listen([this](const api::ObjectMeta* before, const api::ObjectMeta* after) {
        const api::ObjectMeta& meta = after != nullptr ? *after : *before;
        pod_changed({&api::kPod, meta.ns, meta.name}, meta.uid);
    });
}

WorkerProgress::~WorkerProgress() {
    figures_.on_figure({});
    for (const auto& [pod, filled] : followed_) figures_.drop(pod);
}

void WorkerProgress::pod_changed(const api::Key& key, const Uid& uid) {
    const api::Pod* pod = pods_.get(key.ns, key.name);
    const bool runs_here = pod != nullptr && pod->metadata.uid == uid && pod->spec.node_name == node_ &&
                           pod->status.phase == "Running" && is_worker(*pod);
    const api::OwnerReference* owner = runs_here ? pod->metadata.controller() : nullptr;
    if (owner == nullptr || owner->kind != api::kClaim.kind) {
        if (followed_.erase(uid) > 0) figures_.drop(uid);
        return;
    }
    followed_[uid] = {
        {&api::kClaim, key.ns, owner->name},
        owner->uid
    };
    figures_.follow(uid);
}

}  // namespace berth::node
