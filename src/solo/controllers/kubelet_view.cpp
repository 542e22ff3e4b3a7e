// Filling a kubelet's view: copies and joins.
#include "solo/controllers/kubelet_state.hpp"
#include "solo/rules/storage/matching.hpp"

namespace berth::solo {
namespace {

template <class T>
void copy_into(std::map<std::string, T>& into, const T* object) {
    if (object != nullptr) into.emplace(object->metadata.name, *object);
}

bool same(const ContainerInfo& a, const ContainerInfo& b) {
    return a.id == b.id && a.phase == b.phase && a.pid == b.pid && a.exit_code == b.exit_code && a.attempt == b.attempt;
}

}  // namespace

Kubelet::State::State(kube::Engine& e, std::string name, std::string at, Runtime& r, VolumeHost& v)
    : engine(e),
      node(std::move(name)),
      address(std::move(at)),
      runtime(r),
      volumes(v),
      pods(e.cache<api::Pod>(api::kPod)),
      claims(e.cache<api::PersistentVolumeClaim>(api::kClaim)),
      volume_objects(e.cache<api::PersistentVolume>(api::kVolume)),
      config_maps(e.cache<api::ConfigMap>(api::kConfigMap)),
      secrets(e.cache<api::Secret>(api::kSecret)),
      nodes(e.cache<api::Node>(api::kNode)) {}

PodMemory& Kubelet::State::remember(const Uid& uid, const kube::WorkKey& key) {
    PodMemory& known = memory[uid];
    if (known.key == key) return known;
    if (const auto it = by_key.find(known.key); it != by_key.end()) it->second.erase(uid);
    known.key = key;
    by_key[key].insert(uid);
    return known;
}

void Kubelet::State::forget(const Uid& uid) {
    const auto it = memory.find(uid);
    if (it == memory.end()) return;
    std::set<Uid>& named = by_key[it->second.key];
    named.erase(uid);
    if (named.empty()) by_key.erase(it->second.key);
    memory.erase(it);
}

kubelet::View Kubelet::State::fill(const kube::WorkKey& key) {
    kubelet::View view;
    view.key = key;
    view.now = engine.clock().now();
    view.node_address = address;
    view.knows_containers = knows_containers;
    adopt(key);
    const api::Pod* pod = pods.get(key.ns, key.name);
    if (pod != nullptr && pod->spec.node_name != node) pod = nullptr;
    const auto named = by_key.find(key);
    const std::set<Uid> known = named == by_key.end() ? std::set<Uid>() : named->second;
    for (const Uid& uid : known) {
        if (pod != nullptr && pod->metadata.uid == uid) continue;
        const bool has_rest = memory[uid].has_directory || containers.contains(uid);
        if (!has_rest) {
            forget(uid);
            continue;
        }
        view.uid = uid;
        copy_memory(view);
        return view;
    }
    if (pod == nullptr) return view;
    view.pod = *pod;
    view.uid = pod->metadata.uid;
    remember(view.uid, key);
    copy_memory(view);
    if (const api::Node* own = nodes.get("", node)) view.node = *own;
    for (const api::PodVolume& volume : pod->spec.volumes) join(view, volume);
    for (const api::Container& container : pod->spec.init_containers) join_environment(view, container);
    for (const api::Container& container : pod->spec.containers) join_environment(view, container);
    return view;
}

// After a restart leftovers are known by UID alone: they get the name of their pod, if it is still there.
void Kubelet::State::adopt(const kube::WorkKey& key) {
    const Uid uid{key.name};
    if (!key.ns.empty() || !memory.contains(uid)) return;
    for (const api::Pod* pod : pods.all()) {
        if (pod->metadata.uid != uid) continue;
        remember(uid, {&api::kPod, pod->metadata.ns, pod->metadata.name});
        enqueue(memory[uid].key);
    }
}

void Kubelet::State::copy_memory(kubelet::View& view) {
    const PodMemory& known = memory[view.uid];
    view.prepared = known.prepared;
    view.volume_failures = known.volume_failures;
    view.start_failures = known.start_failures;
    view.signalled = known.signalled;
    view.has_directory = known.has_directory;
    const auto it = containers.find(view.uid);
    if (it != containers.end()) view.containers = it->second;
}

void Kubelet::State::join(kubelet::View& view, const api::PodVolume& volume) const {
    if (volume.persistent_volume_claim) {
        const auto* claim = claims.get(view.key.ns, volume.persistent_volume_claim->claim_name);
        copy_into(view.claims, claim);
        if (claim != nullptr) copy_into(view.volumes, volume_objects.get("", claim->spec.volume_name));
    }
    if (volume.config_map) copy_into(view.config_maps, config_maps.get(view.key.ns, volume.config_map->name));
    if (volume.secret) copy_into(view.secrets, secrets.get(view.key.ns, volume.secret->secret_name));
    if (volume.projected.is_object()) join_projected(view, volume.projected);
}

void Kubelet::State::join_projected(kubelet::View& view, const json::Value& projected) const {
    const json::Value* sources = json::find(projected, "/sources");
    if (sources == nullptr || !sources->is_array()) return;
    for (const json::Value& source : sources->get_array()) {
        copy_into(
            view.config_maps, config_maps.get(view.key.ns, std::string(json::text_at(source, "/configMap/name")))
        );
        copy_into(view.secrets, secrets.get(view.key.ns, std::string(json::text_at(source, "/secret/name"))));
    }
}

void Kubelet::State::join_environment(kubelet::View& view, const api::Container& container) const {
    for (const api::EnvVar& env : container.env) {
        const std::string secret(json::text_at(env.value_from, "/secretKeyRef/name"));
        const std::string map(json::text_at(env.value_from, "/configMapKeyRef/name"));
        copy_into(view.secrets, secrets.get(view.key.ns, secret));
        copy_into(view.config_maps, config_maps.get(view.key.ns, map));
    }
}

Task<Result<void>> Kubelet::State::look() {
    const std::uint64_t number = ++looks;
    const Result<std::vector<ContainerInfo>> listed = co_await runtime.list();
    if (!listed) co_return std::unexpected(listed.error());
    if (number < applied) co_return Result<void>();  // a later look came back first
    applied = number;
    std::map<Uid, std::vector<ContainerInfo>> seen;
    for (const ContainerInfo& info : *listed) seen[info.pod_uid].push_back(info);
    std::swap(seen, containers);
    const bool was_known = std::exchange(knows_containers, true);
    for (const auto& [uid, known] : memory) {
        const auto before = seen.find(uid);
        const auto after = containers.find(uid);
        const bool has_before = before != seen.end();
        const bool has_after = after != containers.end();
        const bool is_same =
            has_before == has_after && (!has_before || std::ranges::equal(before->second, after->second, same));
        if (!was_known || !is_same) enqueue(known.key);
    }
    co_return Result<void>();
}

void Kubelet::State::pod_changed(const api::ObjectMeta* before, const api::ObjectMeta* after) {
    const api::ObjectMeta& meta = after != nullptr ? *after : *before;
    const api::Pod* pod = after == nullptr ? nullptr : pods.get(meta.ns, meta.name);
    const bool is_mine = pod != nullptr && pod->spec.node_name == node;
    const bool was_mine = before != nullptr && memory.contains(before->uid);
    if (is_mine || was_mine) enqueue({&api::kPod, meta.ns, meta.name});
}

void Kubelet::State::enqueue_waiting(const std::string& ns) {
    for (const auto& [uid, known] : memory) {
        const api::Pod* pod = known.key.ns == ns ? pods.get(known.key.ns, known.key.name) : nullptr;
        if (pod != nullptr && pod->status.phase == "Pending") enqueue(known.key);
    }
}

void Kubelet::State::enqueue_users(const api::PersistentVolumeClaim& claim) {
    for (const auto& [uid, known] : memory) {
        const api::Pod* pod = known.key.ns == claim.metadata.ns ? pods.get(known.key.ns, known.key.name) : nullptr;
        if (pod != nullptr && pod->status.phase == "Pending" && uses(*pod, claim.metadata.name)) enqueue(known.key);
    }
}

}  // namespace berth::solo
