// A one-machine cluster, put together: store, API server, controllers and nodes on one engine.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "apiserver/server.hpp"
#include "base/async/system/system.hpp"
#include "controllers/progress_board.hpp"
#include "kube/engine.hpp"
#include "node/agent/agent.hpp"
#include "node/agent/worker_progress.hpp"
#include "node/edge/linux_figures.hpp"
#include "node/edge/linux_plugs.hpp"
#include "node/edge/unix_connector.hpp"
#include "roles/up/options.hpp"
#include "solo/controllers/kubelet.hpp"
#include "solo/edge/crun_runtime.hpp"
#include "solo/edge/linux_volumes.hpp"
#include "solo/rules/seed.hpp"

namespace berth::roles {

/// One node of the cluster, run by this process.
struct ClusterNode {
    std::string name;
    std::unique_ptr<solo::CrunRuntime> runtime;
    std::unique_ptr<solo::LinuxVolumes> volumes;
    std::unique_ptr<node::UnixConnector> connector;
    std::unique_ptr<node::LinuxPlugs> plugs;
    std::unique_ptr<solo::Kubelet> kubelet;
    std::unique_ptr<node::Agent> agent;
    std::unique_ptr<node::LinuxFigures> figures;
    std::unique_ptr<node::WorkerProgress> progress;
};

class Cluster {
public:
    Cluster(Executor executor, ThreadPool& blocking, Log& log, const UpOptions& options, solo::DataDir data);
    ~Cluster();

    /// Opens the store and puts the objects in place that an installation starts with. `ca` is for ConfigMaps.
    Task<Result<void>> open(std::string ca);
    /// The API server; good after open().
    [[nodiscard]] kube::Handler& handler() { return *server_; }
    /// Starts the nodes and runs the engine until cancelled.
    Task<void> run();
    /// Closes what waits for nodes, then the store. Containers go on.
    Task<void> close();

    [[nodiscard]] solo::NodeSize node_size() const;

private:
    class Streams;

    Task<Result<void>> seed_nodes();
    Task<Result<void>> put_if_absent(json::Value document);
    Task<Result<void>> start_nodes();
    Task<void> keep_capabilities(pid_t launcher);
    void add_controllers();

    Executor executor_;
    ThreadPool& blocking_;
    Log& log_;
    const UpOptions& options_;
    solo::DataDir data_;
    SystemClock clock_;
    SystemEntropy entropy_;
    std::string ca_;
    bool keeps_capabilities_ = false;
    std::unique_ptr<store::Log> log_file_;
    std::unique_ptr<store::Store> store_;
    std::unique_ptr<Streams> streams_;
    std::unique_ptr<apiserver::Server> server_;
    std::unique_ptr<kube::InProcess> transport_;
    std::unique_ptr<solo::Images> images_;
    controllers::ProgressBoard progress_{clock_};
    std::unique_ptr<kube::Engine> engine_;
    std::vector<std::unique_ptr<ClusterNode>> nodes_;
};

}  // namespace berth::roles
