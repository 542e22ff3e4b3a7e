#include "apiserver/bind.hpp"

#include "apiserver/body.hpp"
#include "apiserver/write.hpp"

namespace berth::apiserver {
namespace {

// Labels and annotations of the binding go to the pod, where it does not have them.
void copy_missing(json::Value& pod, const json::Value& binding, std::string_view field) {
    const std::string pointer = "/metadata/" + std::string(field);
    const json::Value* given = json::find(binding, pointer);
    if (given == nullptr || !given->is_object()) return;
    for (const auto& [key, value] : given->get_object()) {
        const std::string at = pointer + "/" + json::escape_key(key);
        if (json::find(pod, at) == nullptr) json::set(pod, at, value);
    }
}

void set_scheduled(json::Value& pod, Timestamp now) {
    json::Object condition{
        {"type",               "PodScheduled" },
        {"status",             "True"         },
        {"lastProbeTime",      nullptr        },
        {"lastTransitionTime", to_rfc3339(now)}
    };
    json::Value* conditions = json::find(pod, "/status/conditions");
    if (conditions == nullptr || !conditions->is_array()) {
        json::set(pod, "/status/conditions", json::Value(json::Array{std::move(condition)}));
        return;
    }
    for (json::Value& one : conditions->get_array()) {
        if (json::text_at(one, "/type") != "PodScheduled") continue;
        one = std::move(condition);
        return;
    }
    conditions->get_array().push_back(json::Value(std::move(condition)));
}

Outcome<json::Value> bound(const json::Value& pod, const json::Value& binding, Timestamp now) {
    const std::string name(json::text_at(pod, "/metadata/name"));
    const std::string node(json::text_at(binding, "/target/name"));
    const std::string current(json::text_at(pod, "/spec/nodeName"));
    const std::string uid(json::text_at(binding, "/metadata/uid"));
    if (node.empty()) return refuse(invalid("Binding", name, {api::required("target.name", "")}));
    if (!uid.empty() && uid != json::text_at(pod, "/metadata/uid")) {
        return refuse(conflict(
            api::kPod,
            name,
            "Precondition failed: UID in precondition: " + uid +
                ", UID in object meta: " + std::string(json::text_at(pod, "/metadata/uid"))
        ));
    }
    if (!json::text_at(pod, "/metadata/deletionTimestamp").empty()) {
        return refuse(conflict(api::kPod, name, "pod " + name + " is being deleted, cannot be assigned to a host"));
    }
    if (!current.empty())
        return refuse(conflict(api::kPod, name, "pod " + name + " is already assigned to node " + quoted(current)));
    json::Value out = pod;
    json::set(out, "/spec/nodeName", json::Value(node));
    copy_missing(out, binding, "labels");
    copy_missing(out, binding, "annotations");
    set_scheduled(out, now);
    return out;
}

}  // namespace

Task<kube::Response> bind(Core& core, Call call) {
    const Outcome<json::Value> binding = read_options(call.request);
    if (!binding) co_return binding.error();
    const store::RecordPtr pod = core.store.newest(key_for(call.target));
    if (!pod) co_return not_found(api::kPod, call.target.name);
    Outcome<json::Value> object = bound(pod->document, *binding, core.clock.now());
    if (!object) co_return std::move(object).error();
    if (call.write.is_dry_run) co_return success(201, {});
    store::Write write{pod->key, pod->revision, std::move(*object)};
    const Result<store::RecordPtr> stored = co_await core.store.write(std::move(write));
    if (!stored) co_return refusal_of(stored.error(), api::kPod, call.target.name);
    co_return success(201, {});
}

Task<kube::Response> evict(Core& core, Call call) {
    const Outcome<json::Value> body = read_options(call.request);
    if (!body) co_return body.error();
    const store::RecordPtr pod = core.store.newest(key_for(call.target));
    if (!pod) co_return not_found(api::kPod, call.target.name);
    const json::Value* options = json::find(*body, "/deleteOptions");
    call.request.document = options == nullptr ? json::Value(json::Object()) : *options;
    Outcome<RemoveOptions> read = remove_options(call.request);
    if (!read) co_return std::move(read).error();
    const kube::Response removed = co_await remove_record(core, api::kPod, pod, *std::move(read));
    if (removed.code >= 400) co_return removed;
    co_return success(201, {});
}

}  // namespace berth::apiserver
