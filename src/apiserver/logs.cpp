#include "apiserver/logs.hpp"

#include "base/ranges.hpp"

namespace berth::apiserver {
namespace {

std::vector<std::string> names_in(const json::Value& pod, std::string_view pointer) {
    std::vector<std::string> out;
    const json::Value* list = json::find(pod, pointer);
    if (list == nullptr || !list->is_array()) return out;
    for (const json::Value& container : list->get_array()) out.emplace_back(json::text_at(container, "/name"));
    return out;
}

std::string joined(const std::vector<std::string>& names) {
    std::string out;
    for (const std::string& name : names) out += (out.empty() ? "" : " ") + name;
    return "[" + out + "]";
}

Outcome<std::string> choose_container(const kube::Request& request, const json::Value& pod) {
    const std::string pod_name(json::text_at(pod, "/metadata/name"));
    const std::vector<std::string> names = names_in(pod, "/spec/containers");
    const std::string wanted = request.parameter("container").value_or("");
    if (!wanted.empty()) {
        if (contains(names, wanted) || contains(names_in(pod, "/spec/initContainers"), wanted)) return wanted;
        return refuse(bad_request("container " + wanted + " is not valid for pod " + pod_name));
    }
    const std::string usual(json::text_at(pod, "/metadata/annotations/kubectl.kubernetes.io~1default-container"));
    if (contains(names, usual)) return usual;
    if (names.size() == 1) return names.front();
    return refuse(
        bad_request("a container name must be specified for pod " + pod_name + ", choose one of: " + joined(names))
    );
}

const json::Value* status_of(const json::Value& pod, const std::string& container) {
    for (const char* list : {"/status/containerStatuses", "/status/initContainerStatuses"}) {
        const json::Value* statuses = json::find(pod, list);
        if (statuses == nullptr || !statuses->is_array()) continue;
        for (const json::Value& status : statuses->get_array()) {
            if (json::text_at(status, "/name") == container) return &status;
        }
    }
    return nullptr;
}

Outcome<void> check_started(const json::Value& pod, const std::string& container, bool previous) {
    const std::string in_pod =
        "container " + quoted(container) + " in pod " + quoted(json::text_at(pod, "/metadata/name"));
    const json::Value* status = status_of(pod, container);
    const bool has_ended_before = status != nullptr && json::find(*status, "/lastState/terminated") != nullptr;
    if (previous) {
        if (has_ended_before) return {};
        return refuse(bad_request("previous terminated " + in_pod + " not found"));
    }
    const bool has_started = status != nullptr && (json::find(*status, "/state/running") != nullptr ||
                                                   json::find(*status, "/state/terminated") != nullptr);
    if (has_started || has_ended_before) return {};
    const std::string reason(status == nullptr ? "" : json::text_at(*status, "/state/waiting/reason"));
    return refuse(bad_request(in_pod + " is waiting to start: " + (reason.empty() ? "ContainerCreating" : reason)));
}

}  // namespace

Outcome<NodeStreams::LogOptions> log_options(const kube::Request& request, const json::Value& pod, Timestamp now) {
    NodeStreams::LogOptions out;
    out.ns = json::text_at(pod, "/metadata/namespace");
    out.pod = json::text_at(pod, "/metadata/name");
    TRY(out.container, choose_container(request, pod));
    out.follow = flag(request, "follow");
    out.previous = flag(request, "previous");
    out.timestamps = flag(request, "timestamps");
    TRY(out.tail_lines, integer(request, "tailLines"));
    TRY(out.limit_bytes, integer(request, "limitBytes"));
    TRY(const auto seconds, integer(request, "sinceSeconds"));
    if (seconds) out.since = now - std::chrono::seconds(*seconds);
    if (const auto since = request.parameter("sinceTime"); since && !since->empty()) {
        out.since = from_rfc3339(*since);
        if (!out.since) return refuse(bad_request("sinceTime " + quoted(*since) + " is not an RFC 3339 time"));
    }
    if (auto started = check_started(pod, out.container, out.previous); !started) return refuse(started.error());
    return out;
}

Task<kube::Answer<kube::ByteStream>> open_log(Core& core, Call call) {
    const store::RecordPtr pod = core.store.get(key_for(call.target));
    if (!pod) co_return refuse(not_found(api::kPod, call.target.name));
    Outcome<NodeStreams::LogOptions> options = log_options(call.request, pod->document, core.clock.now());
    if (!options) co_return refuse(std::move(options).error());
    if (core.options.streams == nullptr) co_return refuse(not_implemented("logs are not offered by this server"));
    auto stream = co_await core.options.streams->log(*std::move(options));
    if (stream) co_return *std::move(stream);
    if (stream.error().kind == ErrorKind::not_found) co_return refuse(bad_request(stream.error().message));
    co_return refuse(internal_error(stream.error().message));
}

}  // namespace berth::apiserver
