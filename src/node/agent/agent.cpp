#include "node/agent/agent.hpp"

#include "base/ranges.hpp"
#include "node/agent/plugging.hpp"
#include "node/plan/plugs.hpp"
#include "node/plan/records.hpp"
#include "node/plan/volumes.hpp"

namespace berth::node {
namespace {

using kube::WorkKey;

constexpr const char* kProvisioningPod = "kubevirt.io/ephemeral-provisioning";
constexpr const char* kUnsynced = "";

}  // namespace

struct Agent::State {
    State(kube::Engine& e, Executor executor, std::string name, agent::Connector& connector, Plugs& plugs)
        : engine(e),
          node(std::move(name)),
          machines(e.cache<api::VirtualMachineInstance>(api::kVmi)),
          pods(e.cache<api::Pod>(api::kPod)),
          claims(e.cache<api::PersistentVolumeClaim>(api::kClaim)),
          plugging(executor, e.clock(), plugs, [this](const Uid& pod) { plugged(pod); }),
          launchers(executor, e.clock(), connector, [this](const Uid& pod) { reported(pod); }) {}

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
    Plugging plugging;
    Launchers launchers;  ///< last: its tasks look at all of this

    void reported(const Uid& pod) {
        const auto it = memory.find(pod);
        if (it == memory.end()) return;
        if (!launchers.is_connected(pod)) it->second.synced = kUnsynced;  // a new launcher is told again
        enqueue(it->second.key);
    }

    void plugged(const Uid& pod) {
        if (const auto it = memory.find(pod); it != memory.end()) enqueue(it->second.key);
    }

    // The launcher pods of a machine on this node, the newest first.
    std::vector<const api::Pod*> launchers_of(const api::VirtualMachineInstance& vmi) const {
        std::vector<const api::Pod*> out = pods.owned_by(vmi.metadata.uid);
        std::erase_if(out, [&](const api::Pod* pod) {
            return pod->metadata.annotation(kProvisioningPod) != nullptr || pod->spec.node_name != node;
        });
        std::ranges::sort(out, std::ranges::greater(), [](const api::Pod* pod) {
            return std::pair(pod->metadata.creation_timestamp, pod->metadata.name);
        });
        return out;
    }

    View fill(const WorkKey& key) {
        View view;
        view.key = key;
        view.node = node;
        view.now = engine.clock().now();
        const api::VirtualMachineInstance* vmi = machines.get(key.ns, key.name);
        if (vmi == nullptr) return view;
        view.vmi = *vmi;
        const std::vector<const api::Pod*> found = launchers_of(*vmi);
        if (found.empty()) return view;
        const api::Pod* pod = found.front();
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
        fill_plugs(found, view);
        view.synced = it->second.synced == wanted(view);
        return view;
    }

    void fill_plugs(const std::vector<const api::Pod*>& found, View& view) {
        const Uid& uid = view.launcher->metadata.uid;
        std::set<std::string> volumes;
        for (const api::VmVolume& volume : view.vmi->spec.volumes) volumes.insert(volume.name);
        plugging.fill(uid, view.hotplug);
        for (const Plug& plug : view.hotplug.plugs.value_or(std::vector<Plug>())) volumes.insert(plug.volume);
        plugging.keep_failures(uid, volumes);
        std::erase_if(view.hotplug.failures, [&](const PlugFailure& one) { return !volumes.contains(one.volume); });
        view.hotplug.has_caught_up = launchers.has_caught_up(uid);
        view.hotplug.is_ambiguous =
            std::ranges::count_if(found, [](const api::Pod* pod) { return !pod->is_terminal(); }) > 1;
        for (const api::Pod* pod : pods.owned_by(uid)) view.hotplug.attachment_pods.push_back(*pod);
    }

    static std::vector<agent::VolumePath> paths_of(const View& view) {
        return volume_paths(*view.vmi, view.claims, told_plugs(view));
    }

    // The desired machine as the launcher is told it.
    static std::string wanted(const View& view) {
        json::Array paths;
        for (const agent::VolumePath& path : paths_of(view)) paths.push_back(agent::to_json(path));
        return json::print(json::Value(std::move(paths)));
    }

    api::Plan plan(const WorkKey& key) {
        if (*key.kind == api::kNode) return clean_records(fill_records(key));
        View view = fill(key);
        if (is_ours(view)) {
            const Uid& uid = view.launcher->metadata.uid;
            memory[uid].key = key;
            launchers.want(uid);
        } else {
            leave(key, view);
        }
        api::Plan out = sync(view);
        if (is_ours(view)) {
            std::vector<std::string> said;
            for (Trouble& trouble : troubles(view)) said.push_back(std::move(trouble.text));
            plugging.set_said(view.launcher->metadata.uid, std::move(said));
        }
        return out;
    }

    // The machine is over, elsewhere or gone: what is remembered of it goes once its volumes are out of its pod.
    void leave(const WorkKey& key, View& view) {
        std::erase_if(memory, [&](const auto& entry) {
            const auto& [pod, remembered] = entry;
            if (!(remembered.key == key)) return false;
            launchers.drop(pod);
            if (const std::optional<PlugHost> left = plugging.left(pod)) {
                view.hotplug.left.push_back(*left);
                return false;
            }
            plugging.forget(pod);
            return true;
        });
    }

    RecordsView fill_records(const WorkKey& key) {
        RecordsView view{.key = key, .recorded = plugging.recorded()};
        for (const api::VirtualMachineInstance* vmi : machines.all()) {
            if (vmi->is_final()) continue;
            for (const api::Pod* pod : launchers_of(*vmi))
                view.living.push_back({vmi->metadata.uid, pod->metadata.uid});
        }
        return view;
    }

    Task<Result<void>> run(api::Effect effect) {
        if (Plugging::knows(effect.verb)) {
            const bool is_of_node = effect.on == api::print(node_key());
            const Result<void> ran = co_await plugging.run(std::move(effect));
            if (is_of_node && ran) enqueue(node_key());
            co_return ran;
        }
        const Uid pod{std::string(json::text_at(effect.args, "/pod"))};
        const auto it = memory.find(pod);
        if (it == memory.end()) co_return Result<void>();
        Result<void> done;
        if (effect.verb == "sync domain") {
            const View view = fill(it->second.key);
            const kube::Cache<api::VirtualMachineInstance>::Entry entry = machines.entry(view.key.ns, view.key.name);
            if (!entry || !view.launcher || view.launcher->metadata.uid != pod) co_return Result<void>();
            it->second.synced = wanted(view);
            done = co_await launchers.sync(pod, *entry->document, paths_of(view));
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

    WorkKey node_key() const { return {&api::kNode, "", node}; }

    void claim_changed(const api::ObjectMeta& claim) {
        for (const auto& [pod, remembered] : memory) {
            const api::VirtualMachineInstance* vmi = machines.get(remembered.key.ns, remembered.key.name);
            if (vmi == nullptr || remembered.key.ns != claim.ns) continue;
            const auto names = vmi->spec.volumes | std::views::transform(&api::VmVolume::claim_name);
            if (contains(names, claim.name)) enqueue(remembered.key);
        }
    }
};

Agent::Agent(kube::Engine& engine, Executor executor, std::string node, agent::Connector& connector, Plugs& plugs)
    : state_(std::make_shared<State>(engine, std::move(executor), std::move(node), connector, plugs)) {
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
        if (owner == nullptr) return;
        if (owner->kind == "VirtualMachineInstance") state->enqueue({&api::kVmi, meta.ns, owner->name});
        if (owner->kind == "Pod") state->plugged(owner->uid);  // an attachment pod of a launcher
    });
    state->claims.listen([state](const api::ObjectMeta* before, const api::ObjectMeta* after) {
        state->claim_changed(after != nullptr ? *after : *before);
    });
    state->enqueue(state->node_key());
}

Agent::~Agent() = default;

Task<void> Agent::close() {
    co_await state_->launchers.close();
    co_await state_->plugging.close();
}

}  // namespace berth::node
