#include "solo/controllers/scheduler.hpp"

#include "api/kubevirt.hpp"
#include "base/ranges.hpp"
#include "solo/controllers/rooms.hpp"
#include "solo/rules/scheduler/reservation.hpp"

namespace berth::solo {
namespace {

using kube::WorkKey;

WorkKey pod_key(const api::ObjectMeta& meta) { return {&api::kPod, meta.ns, meta.name}; }

struct Scheduler {
    Scheduler(kube::Engine& e, Duration timeout)
        : engine(e),
          bind_timeout(timeout),
          pods(e.cache<api::Pod>(api::kPod)),
          nodes(e.cache<api::Node>(api::kNode)),
          claims(e.cache<api::PersistentVolumeClaim>(api::kClaim)),
          volumes(e.cache<api::PersistentVolume>(api::kVolume)),
          classes(e.cache<api::StorageClass>(api::kStorageClass)),
          drivers(e.cache<api::CsiDriver>(api::kCsiDriver)),
          capacities(e.cache<api::CsiStorageCapacity>(api::kCsiStorageCapacity)),
          namespaces(e.cache<api::Namespace>(api::kNamespace)),
          machines(e.cache<api::VirtualMachineInstance>(api::kVmi)) {}

    kube::Engine& engine;
    Duration bind_timeout;
    kube::Cache<api::Pod>& pods;
    kube::Cache<api::Node>& nodes;
    kube::Cache<api::PersistentVolumeClaim>& claims;
    kube::Cache<api::PersistentVolume>& volumes;
    kube::Cache<api::StorageClass>& classes;
    kube::Cache<api::CsiDriver>& drivers;
    kube::Cache<api::CsiStorageCapacity>& capacities;
    kube::Cache<api::Namespace>& namespaces;
    kube::Cache<api::VirtualMachineInstance>& machines;
    kube::Engine::Enqueue enqueue;

    struct Memory {
        Uid pod;
        std::optional<scheduler::Assumed> assumed;
        int failures = 0;
        std::optional<Timestamp> not_before;
    };
    std::map<WorkKey, Memory> memory;
    std::set<WorkKey> waiting;         ///< pods without a node
    std::map<Uid, api::Pod> reserved;  ///< by machine: its provisioning pod, until the launcher takes over (L-36)

    scheduler::View fill(const WorkKey& key);
    void fill_claims(scheduler::View& view) const;
    void fill_nodes(scheduler::View& view);
    [[nodiscard]] bool is_used_elsewhere(const api::Pod& pod, const std::string& claim) const;
    [[nodiscard]] const Memory* memory_of(const api::Pod& pod) const;
    api::Plan plan(const WorkKey& key);

    void pod_changed(const api::ObjectMeta* before, const api::ObjectMeta* after);
    void claim_changed(const api::ObjectMeta* before, const api::ObjectMeta* after);
    void volume_changed(const api::ObjectMeta* before, const api::ObjectMeta* after);
    void machine_changed(const api::ObjectMeta* before, const api::ObjectMeta* after);
    void enqueue_waiting() {
        for (const WorkKey& key : waiting) enqueue(key);
    }
    void enqueue_users(const std::string& ns, const std::string& claim);
};

scheduler::View Scheduler::fill(const WorkKey& key) {
    scheduler::View view;
    view.key = key;
    view.now = engine.clock().now();
    view.bind_timeout = bind_timeout;
    const api::Pod* pod = pods.get(key.ns, key.name);
    const Uid uid = pod == nullptr ? Uid{} : pod->metadata.uid;
    Memory& known = memory[key];
    if (known.pod != uid) known = Memory{uid, {}, 0, {}};
    if (pod == nullptr) return view;
    view.pod = *pod;
    view.assumed = known.assumed;
    view.failures = known.failures;
    view.not_before = known.not_before;
    if (!pod->spec.node_name.empty()) return view;
    view.volumes = volumes.all();
    view.capacities = capacities.all();
    for (const api::StorageClass* one : classes.all()) view.classes.emplace(one->metadata.name, *one);
    for (const api::CsiDriver* one : drivers.all()) {
        if (json::bool_at(one->spec, "/storageCapacity")) view.counting_drivers.insert(one->metadata.name);
    }
    for (const api::Namespace* one : namespaces.all())
        view.namespaces.emplace(one->metadata.name, one->metadata.labels);
    fill_claims(view);
    fill_nodes(view);
    return view;
}

void Scheduler::fill_claims(scheduler::View& view) const {
    for (const api::PodVolume& volume : view.pod->spec.volumes) {
        if (!volume.persistent_volume_claim) continue;
        const api::PersistentVolumeClaim* claim = claims.get(view.key.ns, volume.persistent_volume_claim->claim_name);
        if (claim == nullptr) continue;
        view.claims.emplace(claim->metadata.name, *claim);
        const bool is_exclusive = contains(claim->spec.access_modes, "ReadWriteOncePod");
        if (is_exclusive && is_used_elsewhere(*view.pod, claim->metadata.name))
            view.exclusive_claims.insert(claim->metadata.name);
    }
}

bool Scheduler::is_used_elsewhere(const api::Pod& pod, const std::string& claim) const {
    return std::ranges::any_of(pods.all(pod.metadata.ns), [&](const api::Pod* other) {
        if (other->metadata.uid == pod.metadata.uid || other->is_terminal() || !uses(*other, claim)) return false;
        const Memory* known = memory_of(*other);
        return !other->spec.node_name.empty() || (known != nullptr && known->assumed);
    });
}

const Scheduler::Memory* Scheduler::memory_of(const api::Pod& pod) const {
    const auto it = memory.find(pod_key(pod.metadata));
    return it == memory.end() || it->second.pod != pod.metadata.uid ? nullptr : &it->second;
}

void Scheduler::fill_nodes(scheduler::View& view) {
    std::map<std::string, std::vector<const api::Pod*>> on;
    std::map<std::string, Bytes> promised;  // to claims that do not show their node yet
    std::set<Uid> present;                  // machines with a pod that counts
    for (const api::Pod* pod : pods.all()) {
        if (pod->metadata.uid == view.pod->metadata.uid || pod->is_terminal()) continue;
        std::string node = pod->spec.node_name;
        const Memory* known = node.empty() ? memory_of(*pod) : nullptr;
        if (known != nullptr && known->assumed) {
            node = known->assumed->node;
            view.taken_volumes.insert(known->assumed->volumes.begin(), known->assumed->volumes.end());
            for (const std::string& name : known->assumed->claims) {
                const api::PersistentVolumeClaim* claim = claims.get(pod->metadata.ns, name);
                const bool is_counted = claim == nullptr || claim->metadata.annotation(kSelectedNode) != nullptr ||
                                        !claim->spec.volume_name.empty();
                if (!is_counted) promised[node] = promised[node] + claim->spec.request();
            }
        }
        if (node.empty()) continue;
        on[node].push_back(pod);
        present.insert(scheduler::machine_of(*pod));
    }
    std::erase_if(reserved, [&](const auto& entry) {
        const api::OwnerReference* owner = entry.second.metadata.controller();
        return !scheduler::is_awaited(entry.second, machines.get(entry.second.metadata.ns, owner->name));
    });
    for (const auto& [machine, pod] : reserved) {
        if (!present.contains(machine) && scheduler::is_kept_from(pod, *view.pod))
            on[pod.spec.node_name].push_back(&pod);
    }
    for (NodeRoom& room : count_rooms(nodes, pods, volumes, claims, classes)) {
        scheduler::NodeView node;
        node.node = *nodes.get("", room.name);
        node.pods = std::move(on[room.name]);
        room.used = room.used + promised[room.name];
        node.room = std::move(room);
        view.nodes.push_back(std::move(node));
    }
}

api::Plan Scheduler::plan(const WorkKey& key) {
    const scheduler::View view = fill(key);
    scheduler::Decision decision = scheduler::sync(view);
    if (!view.pod || !view.pod->spec.node_name.empty()) {
        memory.erase(key);
        return std::move(decision.plan);
    }
    Memory& known = memory[key];
    // Kept in mind before anything is written: the next decision counts it (K-09).
    if (decision.forget) {
        known.assumed.reset();
        enqueue_waiting();
    }
    if (decision.not_before) {
        ++known.failures;
        known.not_before = decision.not_before;
    }
    if (decision.assume) {
        known.assumed = std::move(decision.assume);
        known.failures = 0;
        known.not_before.reset();
    }
    return std::move(decision.plan);
}

void Scheduler::pod_changed(const api::ObjectMeta* before, const api::ObjectMeta* after) {
    const api::ObjectMeta& meta = after != nullptr ? *after : *before;
    const WorkKey key = pod_key(meta);
    const api::Pod* pod = after == nullptr ? nullptr : pods.get(meta.ns, meta.name);
    const bool waits = pod != nullptr && pod->spec.node_name.empty() && !pod->is_terminal();
    if (waits) {
        waiting.insert(key);
    } else {
        waiting.erase(key);
    }
    enqueue(key);
    if (pod == nullptr || pod->is_terminal()) enqueue_waiting();  // what it held is free
    const Uid machine = pod == nullptr ? Uid{} : scheduler::machine_of(*pod);
    if (machine.empty() || pod->spec.node_name.empty()) return;
    if (scheduler::is_provisioning(*pod)) {
        reserved[machine] = *pod;
    } else {
        reserved.erase(machine);
    }
}

void Scheduler::enqueue_users(const std::string& ns, const std::string& claim) {
    for (const WorkKey& key : waiting) {
        if (key.ns != ns) continue;
        const api::Pod* pod = pods.get(key.ns, key.name);
        if (pod != nullptr && uses(*pod, claim)) enqueue(key);
    }
}

void Scheduler::claim_changed(const api::ObjectMeta* before, const api::ObjectMeta* after) {
    if (after == nullptr) enqueue_waiting();  // its room is free
    const api::ObjectMeta& meta = after != nullptr ? *after : *before;
    enqueue_users(meta.ns, meta.name);
}

void Scheduler::volume_changed(const api::ObjectMeta* before, const api::ObjectMeta* after) {
    const api::PersistentVolume* volume = after == nullptr ? nullptr : volumes.get("", after->name);
    const auto* ref = volume == nullptr || !volume->spec.claim_ref ? nullptr : &*volume->spec.claim_ref;
    if (ref != nullptr && before != nullptr) {
        enqueue_users(ref->ns, ref->name);
    } else if (ref == nullptr) {
        enqueue_waiting();  // it may fit anyone
    }
}

void Scheduler::machine_changed(const api::ObjectMeta* before, const api::ObjectMeta* after) {
    const api::ObjectMeta& meta = after != nullptr ? *after : *before;
    const auto it = reserved.find(meta.uid);
    if (it == reserved.end()) return;
    if (!scheduler::is_awaited(it->second, after == nullptr ? nullptr : machines.get(meta.ns, meta.name)))
        enqueue_waiting();
}

}  // namespace

void add_scheduler(kube::Engine& engine, Duration bind_timeout) {
    const auto state = std::make_shared<Scheduler>(engine, bind_timeout);
    kube::Controller controller;
    controller.name = "default-scheduler";
    controller.user = {"system:kube-scheduler", {"system:authenticated"}};
    controller.parallel = 16;  // decisions are made one at a time; what they write goes on beside the next (K-09)
    controller.plan = [state](const WorkKey& key) { return state->plan(key); };
    state->enqueue = engine.add(std::move(controller));
    const auto anything = [state](const api::ObjectMeta*, const api::ObjectMeta*) { state->enqueue_waiting(); };
    state->pods.listen([state](const auto* before, const auto* after) { state->pod_changed(before, after); });
    state->claims.listen([state](const auto* before, const auto* after) { state->claim_changed(before, after); });
    state->volumes.listen([state](const auto* before, const auto* after) { state->volume_changed(before, after); });
    state->machines.listen([state](const auto* before, const auto* after) { state->machine_changed(before, after); });
    state->classes.listen(anything);
    state->nodes.listen(anything);
    state->capacities.listen(anything);
}

}  // namespace berth::solo
