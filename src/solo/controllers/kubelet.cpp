#include "solo/controllers/kubelet.hpp"

#include "base/base64.hpp"
#include "solo/rules/kubelet/facts.hpp"

namespace berth::solo {
namespace {

using kube::WorkKey;

template <class T>
void copy_into(std::map<std::string, T>& into, const T* object) {
    if (object != nullptr) into.emplace(object->metadata.name, *object);
}

// What a kubelet remembers about a pod beside what the machine shows; lost at a restart, and made again then.
struct Memory {
    WorkKey key;
    std::map<std::string, std::string> prepared;
    std::map<std::string, kubelet::Failure> volume_failures;
    std::map<std::string, kubelet::Failure> start_failures;
    std::set<std::string> signalled;
    bool has_directory = false;
};

}  // namespace

struct Kubelet::State {
    State(kube::Engine& e, std::string name, std::string at, Runtime& r, VolumeHost& v)
        : engine(e),
          node(std::move(name)),
          address(std::move(at)),
          runtime(r),
          volumes(v),
          pods(e.cache<api::Pod>(api::kPod)),
          claims(e.cache<api::PersistentVolumeClaim>(api::kClaim)),
          volume_objects(e.cache<api::PersistentVolume>(api::kVolume)),
          config_maps(e.cache<api::ConfigMap>(api::kConfigMap)),
          secrets(e.cache<api::Secret>(api::kSecret)) {}

    kube::Engine& engine;
    std::string node;
    std::string address;
    Runtime& runtime;
    VolumeHost& volumes;
    kube::Cache<api::Pod>& pods;
    kube::Cache<api::PersistentVolumeClaim>& claims;
    kube::Cache<api::PersistentVolume>& volume_objects;
    kube::Cache<api::ConfigMap>& config_maps;
    kube::Cache<api::Secret>& secrets;
    kube::Engine::Enqueue enqueue;
    std::map<Uid, Memory> memory;
    std::map<Uid, std::vector<ContainerInfo>> containers;

    // A key names a pod; the UID that is looked at is the living pod's, or that of leftovers under its name.
    kubelet::View fill(const WorkKey& key) {
        kubelet::View view;
        view.key = key;
        view.now = engine.clock().now();
        view.node_address = address;
        adopt(key);
        const api::Pod* pod = pods.get(key.ns, key.name);
        if (pod != nullptr && pod->spec.node_name != node) pod = nullptr;
        for (const auto& [uid, known] : memory) {
            // Leftovers of an earlier pod of this name go first.
            if (known.key == key && (pod == nullptr || pod->metadata.uid != uid)) {
                view.uid = uid;
                copy_memory(view);
                return view;
            }
        }
        if (pod == nullptr) return view;
        view.pod = *pod;
        view.uid = pod->metadata.uid;
        memory[view.uid].key = key;
        copy_memory(view);
        for (const api::PodVolume& volume : pod->spec.volumes) join(view, volume);
        for (const auto* list : {&pod->spec.init_containers, &pod->spec.containers}) {
            for (const api::Container& container : *list) {
                for (const api::EnvVar& env : container.env) {
                    copy_into(
                        view.secrets,
                        secrets.get(key.ns, std::string(json::text_at(env.value_from, "/secretKeyRef/name")))
                    );
                    copy_into(
                        view.config_maps,
                        config_maps.get(key.ns, std::string(json::text_at(env.value_from, "/configMapKeyRef/name")))
                    );
                }
            }
        }
        return view;
    }

    // After a restart leftovers are known by UID alone: they get the name of their pod, if it is still there.
    void adopt(const WorkKey& key) {
        if (!key.ns.empty()) return;
        for (const api::Pod* pod : pods.all()) {
            if (pod->metadata.uid.value == key.name)
                memory[pod->metadata.uid].key = {&api::kPod, pod->metadata.ns, pod->metadata.name};
        }
    }

    void copy_memory(kubelet::View& view) {
        const Memory& known = memory[view.uid];
        view.prepared = known.prepared;
        view.volume_failures = known.volume_failures;
        view.start_failures = known.start_failures;
        view.signalled = known.signalled;
        view.has_directory = known.has_directory;
        const auto it = containers.find(view.uid);
        if (it != containers.end()) view.containers = it->second;
    }

    void join(kubelet::View& view, const api::PodVolume& volume) {
        if (volume.persistent_volume_claim) {
            const auto* claim = claims.get(view.key.ns, volume.persistent_volume_claim->claim_name);
            copy_into(view.claims, claim);
            if (claim != nullptr) copy_into(view.volumes, volume_objects.get("", claim->spec.volume_name));
        }
        if (volume.config_map) copy_into(view.config_maps, config_maps.get(view.key.ns, volume.config_map->name));
        if (volume.secret) copy_into(view.secrets, secrets.get(view.key.ns, volume.secret->secret_name));
    }

    Task<void> look() {
        const Result<std::vector<ContainerInfo>> listed = co_await runtime.list();
        if (!listed) co_return;
        containers.clear();
        for (const ContainerInfo& info : *listed) containers[info.pod_uid].push_back(info);
    }

    Task<Result<void>> run(api::Effect effect);
    Task<Result<void>> start(Uid uid, std::string container, std::int64_t attempt);
    Task<Result<std::string>> prepare(Uid uid, std::string volume);
    Task<Result<std::string>> prepare_files(kubelet::View view, api::PodVolume volume);
};

namespace {

void note_failure(
    std::map<std::string, kubelet::Failure>& failures, const std::string& name, const Error& error, Timestamp now
) {
    kubelet::Failure& failure = failures[name];
    failure.message = error.message;
    ++failure.count;
    failure.at = now;
}

// The keys a volume shows, under the names it gives them.
std::map<std::string, std::string> chosen(
    const std::map<std::string, std::string>& all, const std::vector<api::KeyToPath>& items
) {
    if (items.empty()) return all;
    std::map<std::string, std::string> out;
    for (const api::KeyToPath& item : items) {
        if (const auto it = all.find(item.key); it != all.end()) out[item.path] = it->second;
    }
    return out;
}

}  // namespace

Task<Result<void>> Kubelet::State::run(api::Effect effect) {
    const Uid uid{std::string(json::text_at(effect.args, "/uid"))};
    const std::string id(json::text_at(effect.args, "/id"));
    Result<void> done;
    if (effect.verb == "look at containers") {
        co_await look();
        for (const auto& [pod, known] : memory) enqueue(known.key);
        co_return done;
    }
    if (effect.verb == "start container") {
        done = co_await start(
            uid,
            std::string(json::text_at(effect.args, "/container")),
            json::integer_at(effect.args, "/attempt").value_or(0)
        );
    } else if (effect.verb == "prepare volume") {
        const std::string name(json::text_at(effect.args, "/volume"));
        const Result<std::string> path = co_await prepare(uid, name);
        if (path) {
            memory[uid].prepared[name] = *path;
            memory[uid].volume_failures.erase(name);
        } else {
            note_failure(memory[uid].volume_failures, name, path.error(), engine.clock().now());
        }
    } else if (effect.verb == "make pod directory") {
        const Result<std::string> path = co_await volumes.make_pod_dir(uid);
        if (!path) co_return std::unexpected(path.error());
        memory[uid].has_directory = true;
    } else if (effect.verb == "signal container") {
        std::string name(json::text_at(effect.args, "/signal"));
        memory[uid].signalled.insert(id + " " + name);
        done = co_await runtime.signal(id, std::move(name));
    } else if (effect.verb == "remove container") {
        done = co_await runtime.remove(id);
    } else if (effect.verb == "remove pod directory") {
        done = co_await volumes.remove_pod_dir(uid);
        if (done) {
            const WorkKey key = memory[uid].key;
            memory.erase(uid);
            containers.erase(uid);
            enqueue(key);
            co_return done;
        }
    }
    co_await look();
    if (const auto it = memory.find(uid); it != memory.end()) enqueue(it->second.key);
    co_return done;
}

Task<Result<void>> Kubelet::State::start(Uid uid, std::string container, std::int64_t attempt) {
    const kubelet::View view = fill(memory[uid].key);
    if (!view.pod || view.uid != uid) co_return Result<void>();
    const api::Container* found = nullptr;
    for (const auto* list : {&view.pod->spec.init_containers, &view.pod->spec.containers}) {
        for (const api::Container& one : *list) {
            if (one.name == container) found = &one;
        }
    }
    if (found == nullptr) co_return Result<void>();
    Result<ContainerSpec> spec = kubelet::container_spec(view, *found, attempt);
    Result<void> done = spec ? Result<void>() : std::unexpected(spec.error());
    if (done) {
        done = co_await runtime.resolve_image(spec->image);
        if (!done) done = within("image \"" + spec->image + "\"", done.error());
    }
    if (done) done = co_await runtime.start(std::move(*spec));
    if (done) {
        memory[uid].start_failures.erase(container);
    } else {
        note_failure(memory[uid].start_failures, container, done.error(), engine.clock().now());
    }
    co_return Result<void>();
}

Task<Result<std::string>> Kubelet::State::prepare(Uid uid, std::string volume) {
    const kubelet::View view = fill(memory[uid].key);
    if (!view.pod || view.uid != uid) co_return fail(ErrorKind::not_found, "the pod is gone");
    const auto it = std::ranges::find(view.pod->spec.volumes, volume, &api::PodVolume::name);
    if (it == view.pod->spec.volumes.end()) co_return fail(ErrorKind::not_found, "the pod has no such volume");
    const auto group = kubelet::fs_group(*view.pod);
    if (it->empty_dir) {
        bool propagates = false;
        for (const api::Container& container : view.pod->spec.containers) {
            for (const api::VolumeMount& mount : container.volume_mounts) {
                propagates = propagates || (mount.name == volume && mount.mount_propagation == "HostToContainer");
            }
        }
        const bool in_memory = it->empty_dir->medium == "Memory";
        Result<std::string> made = co_await volumes.make_empty_dir(uid, volume, in_memory, group, propagates);
        co_return made;
    }
    if (it->host_path) {
        Result<std::string> path = co_await volumes.open_path(it->host_path->path, it->host_path->type, std::nullopt);
        co_return path;
    }
    if (it->persistent_volume_claim) {
        const auto claim = view.claims.find(it->persistent_volume_claim->claim_name);
        if (claim == view.claims.end()) co_return fail(ErrorKind::not_found, "the claim is gone");
        const auto pv = view.volumes.find(claim->second.spec.volume_name);
        if (pv == view.volumes.end()) co_return fail(ErrorKind::not_found, "the claim has no volume");
        const bool block = pv->second.spec.volume_mode == "Block";
        if (pv->second.spec.local) {
            std::string type = block ? "BlockDevice" : "Directory";
            Result<std::string> path = co_await volumes.open_path(pv->second.spec.local->path, std::move(type), group);
            co_return path;
        }
        if (pv->second.spec.host_path) {
            Result<std::string> path =
                co_await volumes.open_path(pv->second.spec.host_path->path, pv->second.spec.host_path->type, group);
            co_return path;
        }
        co_return fail(
            ErrorKind::invalid, "volume \"" + pv->first + "\" is neither local nor hostPath: this node cannot mount it"
        );
    }
    Result<std::string> written = co_await prepare_files(view, *it);
    co_return written;
}

Task<Result<std::string>> Kubelet::State::prepare_files(kubelet::View view, api::PodVolume volume) {
    std::map<std::string, std::string> files;
    std::int64_t mode = 0644;
    if (volume.config_map) {
        const auto it = view.config_maps.find(volume.config_map->name);
        if (it != view.config_maps.end()) {
            files = it->second.data;
            for (const auto& [key, value] : it->second.binary_data) files[key] = decode_base64(value);
        }
        files = chosen(files, volume.config_map->items);
        mode = volume.config_map->default_mode.value_or(mode);
    } else if (volume.secret) {
        const auto it = view.secrets.find(volume.secret->secret_name);
        if (it != view.secrets.end()) {
            for (const auto& [key, value] : it->second.data) files[key] = decode_base64(value);
        }
        files = chosen(files, volume.secret->items);
        mode = volume.secret->default_mode.value_or(mode);
    } else {
        co_return fail(ErrorKind::invalid, "volume \"" + volume.name + "\" has a source this node does not know");
    }
    Result<std::string> written =
        co_await volumes.write_files(view.uid, volume.name, std::move(files), mode, kubelet::fs_group(*view.pod));
    co_return written;
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
    state->pods.listen([state](const api::ObjectMeta* before, const api::ObjectMeta* after) {
        const api::ObjectMeta& meta = after != nullptr ? *after : *before;
        const api::Pod* pod = state->pods.get(meta.ns, meta.name);
        const bool is_mine = pod != nullptr && pod->spec.node_name == state->node;
        const bool was_mine = before != nullptr && state->memory.contains(before->uid);
        if (is_mine || was_mine) state->enqueue({&api::kPod, meta.ns, meta.name});
    });
    const auto claim_changed = [state](const api::ObjectMeta* before, const api::ObjectMeta* after) {
        const std::string& ns = after != nullptr ? after->ns : before->ns;
        for (const auto& [uid, known] : state->memory) {
            if (known.key.ns == ns) state->enqueue(known.key);
        }
    };
    state->claims.listen(claim_changed);
    state->config_maps.listen(claim_changed);
    state->secrets.listen(claim_changed);
    runtime.on_change([state](const Uid&) { state->enqueue(WorkKey{&api::kPod, "", ""}); });
}

Kubelet::~Kubelet() = default;

Task<Result<void>> Kubelet::recover() {
    co_await state_->look();
    const Result<std::vector<Uid>> dirs = co_await state_->volumes.list_pods();
    if (!dirs) co_return std::unexpected(dirs.error());
    for (const Uid& uid : *dirs) {
        state_->memory[uid].has_directory = true;
        state_->memory[uid].key = {&api::kPod, "", uid.value};
    }
    for (const auto& [uid, infos] : state_->containers) {
        if (state_->memory[uid].key.kind == nullptr) state_->memory[uid].key = {&api::kPod, "", uid.value};
    }
    for (const auto& [uid, known] : state_->memory) state_->enqueue(known.key);
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
