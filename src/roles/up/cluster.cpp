#include "roles/up/cluster.hpp"

#include <unistd.h>

#include "controllers/datavolume.hpp"
#include "controllers/hotplug_attach.hpp"
#include "controllers/hotplug_template.hpp"
#include "controllers/placement.hpp"
#include "datavolume/names.hpp"
#include "node/edge/capabilities.hpp"
#include "roles/up/streams.hpp"
#include "solo/admission/admission.hpp"
#include "solo/controllers/housekeeping.hpp"
#include "solo/controllers/scheduler.hpp"
#include "solo/controllers/storage.hpp"
#include "solo/edge/pod_dir.hpp"

namespace berth::roles {
namespace {

const kube::User kSystem{
    "system:apiserver", {"system:masters", "system:authenticated"}
};

std::string empty_dir(
    const solo::DataPaths& paths, const std::string& node, const Uid& pod, const std::string& volume
) {
    return paths.node(NodeName{node}).pod(pod) + "/volumes/kubernetes.io~empty-dir/" + volume;
}

std::string default_guest_archive() {
    char path[4096];
    const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
    if (length <= 0) return {};
    const std::string program(path, static_cast<std::size_t>(length));
    const std::string archive = program.substr(0, program.rfind('/')) + "/guest/guest.oci.tar";
    return ::access(archive.c_str(), R_OK) == 0 ? archive : std::string();
}

}  // namespace

class Cluster::Streams final : public NodeStreams {
public:
    using NodeStreams::NodeStreams;
};

Cluster::Cluster(Executor executor, ThreadPool& blocking, Log& log, const UpOptions& options, solo::DataDir data)
    : executor_(std::move(executor)), blocking_(blocking), log_(log), options_(options), data_(std::move(data)) {}

Cluster::~Cluster() = default;

solo::NodeSize Cluster::node_size() const {
    const MachineSize machine = machine_size(data_.paths().path);
    const std::int64_t share = options_.nodes;
    return {
        .cpu = options_.node_cpu.value_or(MilliCpu{machine.cpu.value / share}),
        .memory = options_.node_memory.value_or(Bytes{machine.memory.value / share}),
        .storage = options_.node_storage.value_or(Bytes{machine.storage.value / share}),
    };
}

Task<Result<void>> Cluster::open(std::string ca) {
    ca_ = std::move(ca);
    CO_TRY(log_file_, store::open_sqlite_log(data_.paths().path + "/store.db"));
    store_ = std::make_unique<store::Store>(executor_, blocking_, *log_file_);
    CO_TRY_DO(store_->load());
    engine_.reset();
    apiserver::Options options = solo::server_options();
    streams_ = std::make_unique<Streams>(executor_, data_.paths(), *store_, nodes_);
    options.streams = streams_.get();
    options.ca_certificate = ca_;
    server_ = std::make_unique<apiserver::Server>(executor_, *store_, clock_, entropy_, log_, std::move(options));
    const Result<void> seeded = co_await server_->seed();
    CO_TRY_DO(seeded);
    transport_ = std::make_unique<kube::InProcess>(*server_);
    engine_ = std::make_unique<kube::Engine>(executor_, clock_, entropy_, log_, kube::Api(*transport_, kSystem));
    for (json::Value& object : solo::installation_objects()) {
        const Result<void> put = co_await put_if_absent(std::move(object));
        CO_TRY_DO(put);
    }
    const Result<void> nodes = co_await seed_nodes();
    co_return nodes;
}

Task<Result<void>> Cluster::put_if_absent(json::Value document) {
    kube::Api api(*transport_, kSystem);
    const Result<kube::Document> created = co_await api.create(std::move(document));
    if (created || created.error().kind == ErrorKind::already_exists) co_return Result<void>();
    co_return std::unexpected(created.error());
}

Task<Result<void>> Cluster::seed_nodes() {
    kube::Api api(*transport_, kSystem);
    const solo::NodeSize size = node_size();
    for (int i = 1; i <= options_.nodes; ++i) {
        const std::string name = "n" + std::to_string(i);
        json::Value object = solo::node_object(name, size, options_.address, clock_.now());
        const Result<void> put = co_await put_if_absent(std::move(object));
        CO_TRY_DO(put);
        // Labels, taints and cordons are the user's; sizes are this start's.
        json::Value patch = json::Object{
            {"status", solo::node_status(size, options_.address, clock_.now())}
        };
        api::Key key{&api::kNode, "", name};
        const Result<kube::Document> patched = co_await api.patch(std::move(key), std::move(patch), "status");
        if (!patched) co_return std::unexpected(patched.error());
        auto node = std::make_unique<ClusterNode>();
        node->name = name;
        nodes_.push_back(std::move(node));
    }
    co_return Result<void>();
}

// Once in a life of this process: later pods read what the first one's libvirt had to find out.
Task<void> Cluster::keep_capabilities(pid_t launcher) {
    if (std::exchange(keeps_capabilities_, true)) co_return;
    auto work = [launcher, folder = data_.paths().capabilities()] {
        return node::harvest_capabilities(launcher, folder);
    };
    const Result<int> kept = co_await blocking(blocking_, std::move(work));
    if (!kept)
        log_.debug(
            "the pod's QEMU capabilities are not kept",
            {
                {"error", kept.error().message}
        }
        );
}

void Cluster::add_controllers() {
    if (options_.has_controllers) {
        const auto machines = std::make_shared<controllers::MachineCaches>(*engine_, placement::solo_config());
        controllers::add_vm_controller(machines);
        controllers::add_vmi_controller(machines);
        controllers::add_hotplug_attach_controller(machines);
        controllers::add_hotplug_template_controller(machines);
        controllers::add_datavolume_controllers(*engine_, &progress_);
    }
    solo::add_scheduler(*engine_);
    solo::add_volume_binder(*engine_);
    const solo::DataPaths paths = data_.paths();
    solo::add_provisioner(
        *engine_,
        [paths](const std::string& node) { return paths.node(NodeName{node}).path; },
        [this](const std::string& name) -> solo::VolumeHost* {
            for (const auto& node : nodes_) {
                if (node->name == name) return node->volumes.get();
            }
            return nullptr;
        }
    );
    solo::add_protection(*engine_);
    solo::add_housekeeping(*engine_, ca_);
}

Task<Result<void>> Cluster::start_nodes() {
    const std::string archive = options_.guest_archive.empty() ? default_guest_archive() : options_.guest_archive;
    images_ = std::make_unique<solo::Images>(data_.paths(), archive);
    const solo::DataPaths paths = data_.paths();
    for (const auto& node : nodes_) {
        const std::string name = node->name;
        CO_TRY(
            node->runtime,
            solo::CrunRuntime::open(
                executor_, {blocking_, clock_, log_, *images_, options_.accelerator}, data_, NodeName{name}
            )
        );
        node->volumes = std::make_unique<solo::LinuxVolumes>(blocking_, paths, NodeName{name});
        node->connector = std::make_unique<node::UnixConnector>(
            [paths, name](const Uid& pod) {
                return empty_dir(paths, name, pod, "sockets/") + std::string(node::kLinkSocketName);
            },
            [this](pid_t launcher) { return keep_capabilities(launcher); }
        );
        node->plugs = std::make_unique<node::LinuxPlugs>(
            blocking_,
            node::PlugDirs{paths.node(NodeName{name}).pods(), paths.node(NodeName{name}).plugs(), paths.cgroup()}
        );
        const Result<void> restored = co_await node->volumes->restore_volumes();
        if (!restored)
            log_.warn(
                "volumes of the node cannot be restored",
                {
                    {"node",  name                    },
                    {"error", restored.error().message}
            }
            );
        node->kubelet =
            std::make_unique<solo::Kubelet>(*engine_, name, options_.address, *node->runtime, *node->volumes);
        node->agent = std::make_unique<node::Agent>(*engine_, executor_, name, *node->connector, *node->plugs);
        node->figures = std::make_unique<node::LinuxFigures>(executor_, [paths, name](const Uid& pod) {
            return empty_dir(paths, name, pod, datavolume::kProgressVolume);
        });
        node->progress = std::make_unique<node::WorkerProgress>(
            *engine_,
            name,
            *node->figures,
            [this](const api::Key& claim, const Uid& uid, const std::string& figure) {
                progress_.report(claim, uid, figure);
            }
        );
        const Result<void> recovered = co_await node->kubelet->recover();
        CO_TRY_DO(recovered);
    }
    add_controllers();
    co_return Result<void>();
}

Task<void> Cluster::run() {
    const Result<void> started = co_await start_nodes();
    if (!started) {
        log_.error(
            "the nodes cannot be started",
            {
                {"error", started.error().message}
        }
        );
        co_return;
    }
    co_await engine_->run();
}

Task<void> Cluster::close() {
    for (const auto& node : nodes_) {
        if (node->agent) co_await node->agent->close();
        if (node->figures) co_await node->figures->close();
        if (node->runtime) co_await node->runtime->close();
    }
    if (store_) co_await store_->close();
}

}  // namespace berth::roles
