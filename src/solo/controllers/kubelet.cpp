// Executing a kubelet's effects through the ports of its machine.
#include "solo/controllers/kubelet.hpp"

#include "solo/controllers/kubelet_state.hpp"

namespace berth::solo {
namespace {

using kube::WorkKey;

void note_failure(
    std::map<std::string, kubelet::Failure>& failures,
    const std::string& name,
    std::string reason,
    const Error& error,
    Timestamp now
) {
    kubelet::Failure& failure = failures[name];
    failure.reason = std::move(reason);
    failure.message = error.message;
    ++failure.count;
    failure.at = now;
}

const api::Container* container_named(const api::Pod& pod, const std::string& name) {
    for (const auto* list : {&pod.spec.init_containers, &pod.spec.containers}) {
        const auto it = std::ranges::find(*list, name, &api::Container::name);
        if (it != list->end()) return &*it;
    }
    return nullptr;
}

}  // namespace

Task<Result<void>> Kubelet::State::run(api::Effect effect) {
    const Uid uid{std::string(json::text_at(effect.args, "/uid"))};
    const std::string id(json::text_at(effect.args, "/id"));
    const auto known = memory.find(uid);
    const WorkKey key = known == memory.end() ? WorkKey{} : known->second.key;
    Result<void> done;
    bool changes_containers = true;
    if (effect.verb == "start container") {
        const std::int64_t attempt = json::integer_at(effect.args, "/attempt").value_or(0);
        done = co_await start(uid, std::string(json::text_at(effect.args, "/container")), attempt);
    } else if (effect.verb == "signal container") {
        std::string name(json::text_at(effect.args, "/signal"));
        memory[uid].signalled.insert(id + " " + name);
        done = co_await runtime.signal(id, std::move(name));
    } else if (effect.verb == "remove container") {
        done = co_await runtime.remove(id);
    } else if (effect.verb == "prepare volume") {
        changes_containers = false;
        done = co_await prepare(uid, std::string(json::text_at(effect.args, "/volume")));
    } else if (effect.verb == "make pod directory") {
        changes_containers = false;
        const Result<std::string> path = co_await volumes.make_pod_dir(uid);
        if (path) memory[uid].has_directory = true;
        if (!path) done = std::unexpected(path.error());
    } else if (effect.verb == "remove pod directory") {
        changes_containers = false;
        done = co_await volumes.remove_pod_dir(uid);
        if (done) forget(uid);
    }
    if (done && changes_containers) done = co_await look();
    if (key.kind != nullptr) enqueue(key);
    co_return done;
}

Task<Result<void>> Kubelet::State::start(Uid uid, std::string container, std::int64_t attempt) {
    const kubelet::View view = fill(memory[uid].key);
    const api::Container* found = view.pod && view.uid == uid ? container_named(*view.pod, container) : nullptr;
    if (found == nullptr) co_return Result<void>();
    Result<ContainerSpec> spec = kubelet::container_spec(view, *found, attempt);
    Result<void> done = spec ? Result<void>() : std::unexpected(spec.error());
    std::string reason = "CreateContainerConfigError";
    if (done) {
        reason = "ErrImagePull";
        done = co_await runtime.resolve_image(spec->image);
    }
    if (done) {
        done = co_await runtime.start(std::move(*spec));
        const bool is_image = !done && done.error().message.starts_with("image ");
        if (!is_image) reason = "RunContainerError";
    }
    std::map<std::string, kubelet::Failure>& failures = memory[uid].start_failures;
    if (done) {
        failures.erase(container);
    } else {
        note_failure(failures, container, reason, done.error(), engine.clock().now());
    }
    co_return Result<void>();  // told in the pod's status, and tried again by the rules
}

Task<Result<void>> Kubelet::State::prepare(Uid uid, std::string volume) {
    const kubelet::View view = fill(memory[uid].key);
    if (!view.pod || view.uid != uid) co_return Result<void>();
    const auto it = std::ranges::find(view.pod->spec.volumes, volume, &api::PodVolume::name);
    if (it == view.pod->spec.volumes.end()) co_return Result<void>();
    Result<kubelet::VolumeRequest> request = kubelet::volume_request(view, *it);
    if (!request) co_return Result<void>();  // what it needs went away since: the next view shows it
    const Result<std::string> path = co_await make(uid, volume, std::move(*request));
    PodMemory& known = memory[uid];
    if (path) {
        known.prepared[volume] = *path;
        known.volume_failures.erase(volume);
    } else {
        note_failure(known.volume_failures, volume, "FailedMount", path.error(), engine.clock().now());
    }
    co_return Result<void>();
}

Task<Result<std::string>> Kubelet::State::make(Uid uid, std::string volume, kubelet::VolumeRequest request) {
    Result<std::string> path;
    switch (request.kind) {
        case kubelet::VolumeRequest::Kind::empty_dir:
            path = co_await volumes.make_empty_dir(uid, volume, request.in_memory, request.group, request.propagates);
            break;
        case kubelet::VolumeRequest::Kind::path:
            path = co_await volumes.open_path(request.path, request.type, request.group);
            break;
        case kubelet::VolumeRequest::Kind::files:
            path = co_await volumes.write_files(uid, volume, std::move(request.files), request.mode, request.group);
            break;
    }
    co_return path;
}

Kubelet::Kubelet(kube::Engine& engine, std::string node, std::string address, Runtime& runtime, VolumeHost& volumes)
    : state_(std::make_shared<State>(engine, std::move(node), std::move(address), runtime, volumes)) {
    const auto state = state_;
    kube::Controller controller;
    controller.name = "kubelet";
    controller.user = {
        "system:node:" + state->node, {"system:nodes", "system:authenticated"}
    };
    controller.parallel = 8;
    controller.plan = [state](const WorkKey& key) {
        if (key.name.empty()) return api::want(api::Effect{"look at containers", state->node, {}});
        const kubelet::View view = state->fill(key);
        return view.uid.empty() ? api::settled() : kubelet::sync(view);
    };
    controller.effect = [state](api::Effect effect) { return state->run(std::move(effect)); };
    state->enqueue = engine.add(std::move(controller));
    state->pods.listen([state](const auto* before, const auto* after) { state->pod_changed(before, after); });
    state->claims.listen([state](const auto*, const auto* after) {
        const auto* claim = after == nullptr ? nullptr : state->claims.get(after->ns, after->name);
        if (claim != nullptr) state->enqueue_users(*claim);
    });
    state->volume_objects.listen([state](const auto*, const auto* after) {
        const auto* volume = after == nullptr ? nullptr : state->volume_objects.get("", after->name);
        if (volume == nullptr || !volume->spec.claim_ref) return;
        const auto* claim = state->claims.get(volume->spec.claim_ref->ns, volume->spec.claim_ref->name);
        if (claim != nullptr) state->enqueue_users(*claim);
    });
    const auto content_changed = [state](const auto*, const auto* after) {
        if (after != nullptr) state->enqueue_waiting(after->ns);
    };
    state->config_maps.listen(content_changed);
    state->secrets.listen(content_changed);
    runtime.on_change([state](const Uid&) {
        if (state->enqueue) state->enqueue(WorkKey{&api::kPod, "", ""});
    });
}

Kubelet::~Kubelet() { state_->enqueue = {}; }  // the machine may outlive us and go on telling

Task<Result<void>> Kubelet::recover() {
    State& s = *state_;
    CO_TRY_DO(co_await s.look());
    // A container on its way up is somebody's work, and whose work this was is dead. It has never run: it goes, and the
    // rules start it as if it had never been.
    std::vector<std::string> orphans;
    for (const auto& [uid, infos] : s.containers) {
        for (const ContainerInfo& info : infos) {
            if (info.phase == ContainerPhase::created) orphans.push_back(info.id);
        }
    }
    for (const std::string& id : orphans) CO_TRY_DO(co_await s.runtime.remove(id));
    if (!orphans.empty()) CO_TRY_DO(co_await s.look());
    const Result<std::vector<Uid>> dirs = co_await s.volumes.list_pods();
    if (!dirs) co_return std::unexpected(dirs.error());
    for (const Uid& uid : *dirs) s.remember(uid, {&api::kPod, "", uid.value}).has_directory = true;
    for (const auto& [uid, infos] : s.containers) {
        if (!s.memory.contains(uid)) s.remember(uid, {&api::kPod, "", uid.value});
    }
    for (const auto& [uid, known] : s.memory) s.enqueue(known.key);
    co_return Result<void>();
}

int Kubelet::process_of(const Uid& pod, const std::string& container) const {
    const auto it = state_->containers.find(pod);
    if (it == state_->containers.end()) return 0;
    for (const ContainerInfo& info : it->second) {
        if (info.name == container && info.phase == ContainerPhase::running) return info.pid;
    }
    return 0;
}

}  // namespace berth::solo
