#include "solo/controllers/scheduler.hpp"

#include "api/kubevirt.hpp"
#include "solo/controllers/rooms.hpp"

namespace berth::solo {
namespace {

using kube::WorkKey;

constexpr const char* kProvisioningPod = "kubevirt.io/ephemeral-provisioning";

bool is_provisioning(const api::Pod& pod) { return pod.metadata.annotation(kProvisioningPod) != nullptr; }

// The machine a pod belongs to: its controller, when that is a VMI.
Uid machine_of(const api::Pod& pod) {
    const api::OwnerReference* owner = pod.metadata.controller();
    return owner != nullptr && owner->kind == "VirtualMachineInstance" ? owner->uid : Uid{};
}

struct Scheduler {
    Scheduler(kube::Engine& e, Duration timeout)
        : engine(e),
          bind_timeout(timeout),
          pods(e.cache<api::Pod>(api::kPod)),
          nodes(e.cache<api::Node>(api::kNode)),
          claims(e.cache<api::PersistentVolumeClaim>(api::kClaim)),
          volumes(e.cache<api::PersistentVolume>(api::kVolume)),
          classes(e.cache<api::StorageClass>(api::kStorageClass)),
          machines(e.cache<api::VirtualMachineInstance>(api::kVmi)) {}

    kube::Engine& engine;
    Duration bind_timeout;
    kube::Cache<api::Pod>& pods;
    kube::Cache<api::Node>& nodes;
    kube::Cache<api::PersistentVolumeClaim>& claims;
    kube::Cache<api::PersistentVolume>& volumes;
    kube::Cache<api::StorageClass>& classes;
    kube::Cache<api::VirtualMachineInstance>& machines;
    kube::Engine::Enqueue enqueue;

    struct Memory {
        Uid pod;
        std::optional<scheduler::Assumed> assumed;
        int failures = 0;
        std::optional<Timestamp> not_before;
    };
    std::map<WorkKey, Memory> memory;
    /// The provisioning pod of a machine, kept in mind on its node until the launcher takes over (L-36).
    std::map<Uid, api::Pod> reserved;

    scheduler::View fill(const WorkKey& key) {
        scheduler::View view;
        view.key = key;
        view.now = engine.clock().now();
        view.bind_timeout = bind_timeout;
        const api::Pod* pod = pods.get(key.ns, key.name);
        Memory& known = memory[key];
        if (pod == nullptr || known.pod != pod->metadata.uid) known = Memory{pod == nullptr ? Uid{} : pod->metadata.uid, {}, 0, {}};
        if (pod == nullptr) return view;
        view.pod = *pod;
        view.assumed = known.assumed;
        view.failures = known.failures;
        view.not_before = known.not_before;
        view.volumes = volumes.all();
        for (const api::StorageClass* storage_class : classes.all()) view.classes.emplace(storage_class->metadata.name, *storage_class);
        for (const api::PodVolume& volume : pod->spec.volumes) {
            if (!volume.persistent_volume_claim) continue;
            const api::PersistentVolumeClaim* claim = claims.get(key.ns, volume.persistent_volume_claim->claim_name);
            if (claim == nullptr) continue;
            view.claims.emplace(claim->metadata.name, *claim);
            if (std::ranges::find(claim->spec.access_modes, "ReadWriteOncePod") != claim->spec.access_modes.end() && is_used_elsewhere(*pod, claim->metadata.name)) {
                view.exclusive_claims.insert(claim->metadata.name);
            }
        }
        fill_nodes(view);
        return view;
    }

    [[nodiscard]] bool is_used_elsewhere(const api::Pod& pod, const std::string& claim) const {
        return std::ranges::any_of(pods.all(pod.metadata.ns), [&](const api::Pod* other) {
            if (other->metadata.uid == pod.metadata.uid || other->spec.node_name.empty() || other->is_terminal()) return false;
            return std::ranges::any_of(other->spec.volumes, [&](const api::PodVolume& v) {
                return v.persistent_volume_claim && v.persistent_volume_claim->claim_name == claim;
            });
        });
    }

    void fill_nodes(scheduler::View& view) {
        std::map<std::string, std::vector<const api::Pod*>> on;
        std::set<Uid> machines_with_pods;
        for (const api::Pod* pod : pods.all()) {
            if (pod->metadata.uid == view.pod->metadata.uid || pod->is_terminal()) continue;
            std::string node = pod->spec.node_name;
            if (node.empty()) {
                const auto it = memory.find({&api::kPod, pod->metadata.ns, pod->metadata.name});
                if (it != memory.end() && it->second.pod == pod->metadata.uid && it->second.assumed) node = it->second.assumed->node;
            }
            if (node.empty()) continue;
            on[node].push_back(pod);
            machines_with_pods.insert(machine_of(*pod));
        }
        const Uid own = machine_of(*view.pod);
        for (const auto& [machine, pod] : reserved) {
            if (machine != own && !machines_with_pods.contains(machine)) on[pod.spec.node_name].push_back(&pod);
        }
        for (NodeRoom& room : count_rooms(nodes, volumes, claims, classes)) {
            scheduler::NodeView node;
            node.node = *nodes.get("", room.name);
            node.pods = std::move(on[room.name]);
            node.room = std::move(room);
            view.nodes.push_back(std::move(node));
        }
    }

    api::Plan plan(const WorkKey& key) {
        const scheduler::View view = fill(key);
        scheduler::Decision decision = scheduler::sync(view);
        Memory& known = memory[key];
        if (decision.forget) known.assumed.reset();
        if (decision.assume && !known.assumed) known.assumed = scheduler::Assumed{*decision.assume, view.now};
        if (decision.failed) {
            ++known.failures;
            known.not_before = decision.plan.look_again_at;
        } else if (decision.assume) {
            known.failures = 0;
            known.not_before.reset();
        }
        if (!view.pod) memory.erase(key);
        return std::move(decision.plan);
    }

    void watch_reservation(const api::ObjectMeta& meta) {
        const api::Pod* pod = pods.get(meta.ns, meta.name);
        if (pod == nullptr || pod->spec.node_name.empty()) return;
        const Uid machine = machine_of(*pod);
        if (machine.empty()) return;
        if (is_provisioning(*pod)) {
            reserved[machine] = *pod;
        } else {
            reserved.erase(machine);
        }
    }

    void enqueue_waiting() {
        for (const api::Pod* pod : pods.all()) {
            if (pod->spec.node_name.empty() && !pod->is_terminal()) enqueue({&api::kPod, pod->metadata.ns, pod->metadata.name});
        }
    }
};

}  // namespace

void add_scheduler(kube::Engine& engine, Duration bind_timeout) {
    const auto state = std::make_shared<Scheduler>(engine, bind_timeout);
    kube::Controller controller;
    controller.name = "default-scheduler";
    controller.user = {"system:kube-scheduler", {"system:authenticated"}};
    controller.parallel = 1;  // one decision at a time: the next one sees what this one assumed (K-09)
    controller.plan = [state](const WorkKey& key) { return state->plan(key); };
    state->enqueue = engine.add(std::move(controller));
    state->pods.listen([state](const api::ObjectMeta* before, const api::ObjectMeta* after) {
        const api::ObjectMeta& meta = after != nullptr ? *after : *before;
        state->enqueue({&api::kPod, meta.ns, meta.name});
        if (after != nullptr) {
            state->watch_reservation(*after);
            const api::Pod* pod = state->pods.get(meta.ns, meta.name);
            if (pod != nullptr && pod->is_terminal()) state->enqueue_waiting();
        } else {
            state->enqueue_waiting();  // its resources are free
        }
    });
    const auto anything = [state](const api::ObjectMeta*, const api::ObjectMeta*) { state->enqueue_waiting(); };
    state->claims.listen(anything);
    state->volumes.listen(anything);
    state->classes.listen(anything);
    state->nodes.listen(anything);
    state->machines.listen([state](const api::ObjectMeta* before, const api::ObjectMeta* after) {
        const api::ObjectMeta& meta = after != nullptr ? *after : *before;
        const api::VirtualMachineInstance* machine = after == nullptr ? nullptr : state->machines.get(meta.ns, meta.name);
        const bool is_over = machine == nullptr || machine->metadata.uid != meta.uid || machine->is_final() || machine->metadata.is_deleting();
        if (is_over && state->reserved.erase(meta.uid) > 0) state->enqueue_waiting();
    });
}

}  // namespace berth::solo
