#include "sim/roles.hpp"

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

#include "controllers/datavolume.hpp"
#include "controllers/hotplug_attach.hpp"
#include "controllers/hotplug_template.hpp"
#include "controllers/placement.hpp"
#include "node/agent/agent.hpp"
#include "node/agent/worker_progress.hpp"
#include "solo/admission/admission.hpp"
#include "solo/controllers/housekeeping.hpp"
#include "solo/controllers/kubelet.hpp"
#include "solo/controllers/scheduler.hpp"
#include "solo/controllers/storage.hpp"

namespace berth::sim {
namespace {

class EngineRole : public RoleParts {
public:
    explicit EngineRole(const RoleInput& input)
        : engine(
              input.executor,
              input.clock,
              input.entropy,
              input.log,
              kube::Api(input.transport, {"system:" + input.name, {"system:authenticated"}})
          ) {}
    Task<void> run() override { return engine.run(); }
    [[nodiscard]] bool is_quiet() const override { return engine.is_quiet(); }

    kube::Engine engine;
};

class NodeRole final : public EngineRole {
public:
    explicit NodeRole(const RoleInput& input)
        : EngineRole(input),
          connector_(input.machines),
          kubelet_(engine, input.name, "10.0.0.1", *input.node, *input.node),
          agent_(engine, input.executor, input.name, connector_, input.node->plugs()),
          progress_(
              engine,
              input.name,
              *input.node,
              [&board = input.progress](const api::Key& claim, const Uid& uid, const std::string& figure) {
                  board.report(claim, uid, figure);
              }
          ) {}

    Task<void> run() override {
        bool stopped = false;
        try {
            const Result<void> recovered = co_await kubelet_.recover();
            if (recovered) co_await engine.run();
        } catch (const boost::system::system_error&) {
            stopped = true;
        }
        co_await keep_going();
        co_await agent_.close();
        co_await boost::asio::this_coro::throw_if_cancelled(true);
        if (stopped) throw boost::system::system_error(boost::asio::error::operation_aborted);
    }

private:
    SimConnector connector_;
    solo::Kubelet kubelet_;
    node::Agent agent_;
    node::WorkerProgress progress_;
};

}  // namespace

std::unique_ptr<RoleParts> make_role(const RoleInput& input) {
    if (input.node != nullptr) return std::make_unique<NodeRole>(input);
    auto role = std::make_unique<EngineRole>(input);
    if (input.name == "controllers") {
        const auto machines = std::make_shared<controllers::MachineCaches>(role->engine, placement::solo_config());
        controllers::add_vm_controller(machines);
        controllers::add_vmi_controller(machines);
        controllers::add_hotplug_attach_controller(machines);
        controllers::add_hotplug_template_controller(machines);
        if (!input.lacks_datavolumes) controllers::add_datavolume_controllers(role->engine, &input.progress);
        return role;
    }
    const auto nodes = input.nodes;
    solo::add_scheduler(role->engine);
    solo::add_volume_binder(role->engine);
    solo::add_provisioner(
        role->engine,
        [](const std::string& node) { return "/sim/" + node; },
        [nodes](const std::string& node) -> solo::VolumeHost* {
            const auto it = nodes.find(node);
            return it == nodes.end() ? nullptr : it->second;
        }
    );
    solo::add_protection(role->engine);
    solo::add_housekeeping(role->engine, "test authority");
    return role;
}

apiserver::Options server_options() { return solo::server_options(); }

}  // namespace berth::sim
