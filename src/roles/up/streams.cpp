#include "roles/up/streams.hpp"

#include "node/edge/unix_connector.hpp"
#include "solo/edge/container_record.hpp"
#include "solo/edge/files.hpp"
#include "solo/edge/pod_log.hpp"

namespace berth::roles {

Task<Result<std::unique_ptr<kube::ByteStream>>> NodeStreams::log(LogOptions options) {
    const store::RecordPtr pod = store_.get({"pods", options.ns, options.pod});
    if (!pod) co_return fail(ErrorKind::not_found, "pods \"" + options.pod + "\" not found");
    const Uid uid{std::string(json::text_at(pod->document, "/metadata/uid"))};
    const std::string node_name(json::text_at(pod->document, "/spec/nodeName"));
    const auto node = std::ranges::find_if(nodes_, [&](const auto& n) { return n->name == node_name; });
    if (node == nodes_.end() || !(*node)->runtime) {
        co_return fail(ErrorKind::unavailable, "node \"" + node_name + "\" is not run by this server");
    }
    const std::string path = (*node)->runtime->log_path(uid, options.container);
    const solo::LogWishes wishes{
        options.follow, options.timestamps, options.tail_lines, options.limit_bytes, options.since
    };
    const std::string container = options.container;
    store::Store* const store = &store_;
    const store::ObjectKey key{"pods", options.ns, options.pod};
    solo::ContainerDir dir{.node = paths_.node(NodeName{node_name}), .pod = uid, .name = container};
    dir.attempt = std::atoll(path.substr(path.rfind('/') + 1).c_str());  // ".../3.log"
    // Ended when its exit is written down (that wakes the stream; the status comes later), when the pod is gone, or
    // when the status says so.
    auto has_ended = [store, key, uid, container, exit_file = dir.exit_file()] {
        if (solo::exists(exit_file)) return true;
        const store::RecordPtr now = store->get(key);
        if (!now || json::text_at(now->document, "/metadata/uid") != uid.value) return true;
        const std::string_view phase = json::text_at(now->document, "/status/phase");
        if (phase == "Succeeded" || phase == "Failed") return true;
        for (const char* list : {"/status/containerStatuses", "/status/initContainerStatuses"}) {
            const json::Value* statuses = json::find(now->document, list);
            if (statuses == nullptr || !statuses->is_array()) continue;
            for (const json::Value& status : statuses->get_array()) {
                if (json::text_at(status, "/name") == container)
                    return json::find(status, "/state/terminated") != nullptr;
            }
        }
        return false;
    };
    co_return solo::open_pod_log(executor_, path, dir.node.exits(), wishes, std::move(has_ended));
}

Task<Result<std::unique_ptr<kube::Duplex>>> NodeStreams::console(std::string ns, std::string vmi) {
    const store::RecordPtr machine = store_.get({"virtualmachineinstances.kubevirt.io", ns, vmi});
    if (!machine) co_return fail(ErrorKind::not_found, "virtualmachineinstances.kubevirt.io \"" + vmi + "\" not found");
    const std::string_view uid = json::text_at(machine->document, "/metadata/uid");
    for (const store::RecordPtr& pod : store_.list("pods", ns)) {
        const bool is_launcher =
            json::text_at(pod->document, "/metadata/ownerReferences/0/uid") == uid &&
            json::find(pod->document, "/metadata/annotations/kubevirt.io~1ephemeral-provisioning") == nullptr;
        const std::string_view phase = json::text_at(pod->document, "/status/phase");
        if (!is_launcher || phase != "Running") continue;
        const Uid pod_uid{std::string(json::text_at(pod->document, "/metadata/uid"))};
        const NodeName node{std::string(json::text_at(pod->document, "/spec/nodeName"))};
        std::string socket = paths_.node(node).pod(pod_uid) + "/volumes/kubernetes.io~empty-dir/sockets/" +
                             std::string(node::kConsoleSocketName);
        Result<std::unique_ptr<kube::Duplex>> opened = co_await node::open_console(std::move(socket));
        co_return opened;
    }
    co_return fail(ErrorKind::unavailable, "the machine has no running launcher pod");
}

}  // namespace berth::roles
