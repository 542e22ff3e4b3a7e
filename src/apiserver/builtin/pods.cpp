// Pods: what every one of them has, and what may change after it was made.
// Source: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
#include "apiserver/builtin/builtin.hpp"
#include "base/quantity.hpp"
#include "base/ranges.hpp"

namespace berth::apiserver {
namespace {

constexpr const char* kContainerLists[] = {"initContainers", "containers"};

void default_container(json::Object& container) {
    fill(container, "resources", json::Object());
    fill(container, "terminationMessagePath", "/dev/termination-log");
    fill(container, "terminationMessagePolicy", "File");
    const std::string_view image =
        container["image"].is_string() ? std::string_view(container["image"].get_string()) : std::string_view();
    const std::size_t slash = image.rfind('/');
    const std::string_view last = slash == std::string_view::npos ? image : image.substr(slash + 1);
    const bool is_latest = last.find(':') == std::string_view::npos || last.ends_with(":latest");
    const bool has_digest = image.find('@') != std::string_view::npos;
    fill(container, "imagePullPolicy", is_latest && !has_digest ? "Always" : "IfNotPresent");
}

// Limits without requests are requests too.
void default_requests(json::Object& container) {
    json::Object& resources = object_in(container, "resources");
    const json::Value* limits = resources.if_contains("limits");
    if (limits == nullptr || !limits->is_object()) return;
    const json::Object copy = limits->get_object();
    json::Object& requests = object_in(resources, "requests");
    for (const auto& [name, amount] : copy) fill(requests, name, amount);
}

void each_container(json::Object& spec, const std::function<void(json::Object&)>& visit) {
    for (const char* list : kContainerLists) {
        json::Value* containers = spec.if_contains(list);
        if (containers == nullptr || !containers->is_array()) continue;
        for (json::Value& container : containers->get_array()) {
            if (container.is_object()) visit(container.get_object());
        }
    }
}

std::int64_t amount(const json::Value& container, const char* list, const char* resource) {
    const json::Value* value = json::find(container, std::string("/resources/") + list + "/" + resource);
    if (value == nullptr) return 0;
    const std::string text = value->is_string() ? std::string(value->get_string()) : json::print(*value);
    return milli_value(text).value_or(0);
}

// Guaranteed: every container limits cpu and memory and requests the same. BestEffort: none asks for anything.
std::string qos_class(json::Object& spec) {
    bool asks = false;
    bool is_guaranteed = true;
    each_container(spec, [&](json::Object& container) {
        const json::Value value(container);
        for (const char* resource : {"cpu", "memory"}) {
            const std::int64_t request = amount(value, "requests", resource);
            const std::int64_t limit = amount(value, "limits", resource);
            asks = asks || request > 0 || limit > 0;
            is_guaranteed = is_guaranteed && limit > 0 && limit == request;
        }
    });
    if (!asks) return "BestEffort";
    return is_guaranteed ? "Guaranteed" : "Burstable";
}

void erase_from(json::Object& object, std::string_view field) { object.erase(field); }

// The spec without what an update may change (2.9).
json::Value fixed_part(const json::Value& pod) {
    const json::Value* found = json::find(pod, "/spec");
    json::Value spec = found == nullptr ? json::Value(json::Object()) : *found;
    if (!spec.is_object()) return spec;
    json::Object& fields = spec.get_object();
    for (const char* field :
         {"activeDeadlineSeconds", "tolerations", "schedulingGates", "terminationGracePeriodSeconds"}) {
        erase_from(fields, field);
    }
    each_container(fields, [](json::Object& container) { erase_from(container, "image"); });
    return spec;
}

bool is_gated(const json::Value& pod) {
    const json::Value* gates = json::find(pod, "/spec/schedulingGates");
    return gates != nullptr && gates->is_array() && !gates->get_array().empty();
}

json::Value without_placement(json::Value spec) {
    if (spec.is_object()) {
        erase_from(spec.get_object(), "nodeSelector");
        erase_from(spec.get_object(), "affinity");
    }
    return spec;
}

void check_containers(const json::Value& pod, std::vector<api::Cause>& causes) {
    const json::Value* containers = json::find(pod, "/spec/containers");
    if (containers == nullptr || !containers->is_array() || containers->get_array().empty()) {
        causes.push_back(api::required("spec.containers", ""));
        return;
    }
    std::vector<std::string> names;
    for (std::size_t i = 0; i < containers->get_array().size(); ++i) {
        const json::Value& container = containers->get_array()[i];
        const std::string at = "spec.containers[" + std::to_string(i) + "]";
        const std::string name(json::text_at(container, "/name"));
        if (name.empty()) causes.push_back(api::required(at + ".name", ""));
        if (json::text_at(container, "/image").empty()) causes.push_back(api::required(at + ".image", ""));
        if (contains(names, name)) causes.push_back(api::duplicate(at + ".name", quoted(name)));
        names.push_back(name);
    }
}

}  // namespace

void default_pod(json::Value& pod) {
    json::Object& fields = pod.get_object();
    json::Object& spec = object_in(fields, "spec");
    fill(spec, "restartPolicy", "Always");
    fill(spec, "terminationGracePeriodSeconds", 30);
    fill(spec, "dnsPolicy", "ClusterFirst");
    if (!spec.contains("serviceAccountName")) {
        const json::Value* old_name = spec.if_contains("serviceAccount");
        spec["serviceAccountName"] = old_name != nullptr && old_name->is_string() ? *old_name : json::Value("default");
    }
    spec["serviceAccount"] = spec["serviceAccountName"];
    fill(spec, "securityContext", json::Object());
    fill(spec, "schedulerName", "default-scheduler");
    fill(spec, "enableServiceLinks", true);
    fill(spec, "preemptionPolicy", "PreemptLowerPriority");
    fill(spec, "priority", 0);
    each_container(spec, [](json::Object& container) {
        default_container(container);
        default_requests(container);
    });
    fields["status"] = json::Object{
        {"phase",    "Pending"      },
        {"qosClass", qos_class(spec)}
    };
}

std::vector<api::Cause> check_pod(const json::Value& pod, const json::Value* old) {
    std::vector<api::Cause> causes;
    if (old == nullptr) {
        check_containers(pod, causes);
        return causes;
    }
    json::Value before = fixed_part(*old);
    json::Value after = fixed_part(pod);
    if (is_gated(*old)) {
        before = without_placement(std::move(before));
        after = without_placement(std::move(after));
    }
    if (!json::equal(before, after)) {
        causes.push_back(api::forbidden(
            "spec",
            "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
            "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
            "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
        ));
    }
    return causes;
}

}  // namespace berth::apiserver
