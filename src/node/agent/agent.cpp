#include "node/agent/agent.hpp"

#include "node/plan/vmi.hpp"
#include "node/plan/volumes.hpp"

namespace berth::node {
namespace {

using kube::WorkKey;

constexpr const char* kProvisioningPod = "kubevirt.io/ephemeral-provisioning";
constexpr const char* kUnsynced = "";

}  // namespace

struct Agent::State {
    State(kube::Engine& e, Executor executor, std::string name, agent::Connector& connector)
        : engine(e),
          node(std::move(name)),
          machines(e.cache<api::VirtualMachineInstance>(api::kVmi)),
          pods(e.cache<api::Pod>(api::kPod)),
          claims(e.cache<api::PersistentVolumeClaim>(api::kClaim)),
          launchers(std::move(executor), e.clock(), connector, [this](const Uid& pod) { reported(pod); }) {}

    kube::Engine& engine;
    std::string node;
    kube::Cache<api::VirtualMachineInstance>& machines;
    kube::Cache<api::Pod>& pods;
    kube::Cache<api::PersistentVolumeClaim>& claims;
    kube::Engine::Enqueue enqueue;

    struct Memory {
        WorkKey key;
        std::string synced = kUnsynced;  ///< the spec that the launcher was told, as text
        std::optional<Timestamp> shutdown_sent_at;
    };
    std::map<Uid, Memory> memory;  ///< by launcher pod
    Launchers launchers;           ///< last: its tasks look at all of this

    void reported(const Uid& pod) {
        const auto it = memory.find(pod);
        if (it == memory.end()) return;
        if (!launchers.is_connected(pod)) it->second.synced = kUnsynced;  // a new launcher is told again
        enqueue(it->second.key);
    }

    const api::Pod* launcher_of(const api::VirtualMachineInstance& vmi) const {
        const api::Pod* newest = nullptr;
        for (const api::Pod* pod : pods.owned_by(vmi.metadata.uid)) {
            if (pod->metadata.annotation(kProvisioningPod) != nullptr || pod->spec.node_name != node) continue;
            if (newest == nullptr || pod->metadata.creation_timestamp > newest->metadata.creation_timestamp)
                newest = pod;
        }
        return newest;
    }

    View fill(const WorkKey& key) {
        View view;
        view.key = key;
        view.node = node;
        view.now = engine.clock().now();
        const api::VirtualMachineInstance* vmi = machines.get(key.ns, key.name);
        if (vmi == nullptr) return view;
        view.vmi = *vmi;
        const api::Pod* pod = launcher_of(*vmi);
        if (pod == nullptr) return view;
        view.launcher = *pod;
        for (const api::VmVolume& volume : vmi->spec.volumes) {
            const api::PersistentVolumeClaim* claim = claims.get(key.ns, volume.claim_name());
            if (claim != nullptr) view.claims.push_back(*claim);
        }
        const Uid& uid = pod->metadata.uid;
        if (const agent::Report* report = launchers.report(uid)) view.report = *report;
        const auto it = memory.find(uid);
        if (it == memory.end()) return view;
        view.shutdown_sent_at = it->second.shutdown_sent_at;
        view.synced = it->second.synced == wanted(view);
        return view;
    }

    // The desired machine as the launcher is told it.
    static std::string wanted(const View& view) {
        json::Array paths;
        for (const agent::VolumePath& path : volume_paths(*view.vmi, view.claims))
            paths.push_back(agent::to_json(path));
        return json::print(json::Value(std::move(paths)));
    }

    api::Plan plan(const WorkKey& key) {
        View view = fill(key);
        if (is_ours(view)) {
            const Uid& uid = view.launcher->metadata.uid;
            memory[uid].key = key;
            launchers.want(uid);
        } else {
            std::erase_if(memory, [&](const auto& entry) {
                if (!(entry.second.key == key)) return false;
                launchers.drop(entry.first);
                return true;
            });
        }
        return sync(view);
    }

    Task<Result<void>> run(api::Effect effect) {
        const Uid pod{std::string(json::text_at(effect.args, "/pod"))};
        const auto it = memory.find(pod);
        if (it == memory.end()) co_return Result<void>();
        Result<void> done;
        if (effect.verb == "sync domain") {
            const View view = fill(it->second.key);
            const kube::Cache<api::VirtualMachineInstance>::Entry entry = machines.entry(view.key.ns, view.key.name);
            if (!entry || !view.launcher || view.launcher->metadata.uid != pod) co_return Result<void>();
            it->second.synced = wanted(view);
            done = co_await launchers.sync(pod, *entry->document, volume_paths(*view.vmi, view.claims));
            if (!done && memory.contains(pod)) memory[pod].synced = kUnsynced;
        } else if (effect.verb == "shutdown domain") {
            it->second.shutdown_sent_at = engine.clock().now();
            done = co_await launchers.shutdown(pod);
            if (!done && memory.contains(pod)) memory[pod].shutdown_sent_at.reset();
        } else {
            done = co_await launchers.destroy(pod);
        }
        co_return done;
    }
};

Agent::Agent(kube::Engine& engine, Executor executor, std::string node, agent::Connector& connector)
    : state_(std::make_shared<State>(engine, std::move(executor), std::move(node), connector)) {
    State* const state = state_.get();
    kube::Controller controller;
    controller.name = "virt-handler";
    controller.user = {
        "system:node:" + state->node, {"system:nodes", "system:authenticated"}
    };
    controller.plan = [state](const WorkKey& key) { return state->plan(key); };
    controller.effect = [state](api::Effect effect) { return state->run(std::move(effect)); };
    state->enqueue = engine.add(std::move(controller));
    state->machines.listen([state](const api::ObjectMeta* before, const api::ObjectMeta* after) {
        const api::ObjectMeta& meta = after != nullptr ? *after : *before;
        state->enqueue({&api::kVmi, meta.ns, meta.name});
    });
    state->pods.listen([state](const api::ObjectMeta* before, const api::ObjectMeta* after) {
        const api::ObjectMeta& meta = after != nullptr ? *after : *before;
        const api::OwnerReference* owner = meta.controller();
        if (owner != nullptr && owner->kind == "VirtualMachineInstance")
            state->enqueue({&api::kVmi, meta.ns, owner->name});
    });
}

Agent::~Agent() = default;

Task<void> Agent::close() { return state_->launchers.close(); }

}  // namespace berth::node
