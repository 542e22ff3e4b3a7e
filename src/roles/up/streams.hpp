// What the API server fetches from the nodes of this process: container logs and consoles.
#pragma once

#include "apiserver/server.hpp"
#include "roles/up/cluster.hpp"
#include "solo/edge/data_dir.hpp"
#include "store/store.hpp"

namespace berth::roles {

class NodeStreams : public apiserver::NodeStreams {
public:
    NodeStreams(
        Executor executor,
        solo::DataPaths paths,
        store::Store& store,
        const std::vector<std::unique_ptr<ClusterNode>>& nodes
    )
        : executor_(std::move(executor)), paths_(std::move(paths)), store_(store), nodes_(nodes) {}

    Task<Result<std::unique_ptr<kube::ByteStream>>> log(LogOptions options) override;
    Task<Result<std::unique_ptr<kube::Duplex>>> console(std::string ns, std::string vmi) override;

private:
    Executor executor_;
    solo::DataPaths paths_;
    store::Store& store_;
    const std::vector<std::unique_ptr<ClusterNode>>& nodes_;
};

}  // namespace berth::roles
