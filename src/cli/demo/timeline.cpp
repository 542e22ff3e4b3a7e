#include "cli/demo/timeline.hpp"

namespace berth::cli {
namespace {

std::string text(const json::Value& object, std::string_view pointer) { return std::string(json::text_at(object, pointer)); }

bool is_provisioning(const json::Value& pod) {
    return json::find(pod, "/metadata/annotations/kubevirt.io~1ephemeral-provisioning") != nullptr;
}

std::string role_of(const json::Value& pod) {
    const std::string name = text(pod, "/metadata/name");
    if (name.starts_with("importer-")) return "worker pod " + name;
    return (is_provisioning(pod) ? "provisioning pod " : "launcher pod ") + name;
}

}  // namespace

void Timeline::once(const std::string& key, std::string line, std::vector<std::string>& out) {
    if (told_.insert(key).second) out.push_back(std::move(line));
}

void Timeline::pod(const json::Value& object, bool is_deleted, std::vector<std::string>& out) {
    const std::string name = text(object, "/metadata/name");
    const std::string role = role_of(object);
    const std::string node = text(object, "/spec/nodeName");
    const std::string phase = text(object, "/status/phase");
    if (is_deleted) {
        once(name + " gone", role + " removed", out);
        return;
    }
    const bool carries_claims = is_provisioning(object);
    once(name + " made", role + " created" + (carries_claims ? ": it takes all disks through the scheduler" : ""), out);
    if (!node.empty()) once(name + " placed", role + " placed on " + node, out);
    if (phase == "Running" || phase == "Succeeded") once(name + phase, role + (phase == "Running" ? " runs" : " has done its work"), out);
}

std::vector<std::string> Timeline::tell(const api::Kind& kind, const json::Value& object, bool is_deleted) {
    std::vector<std::string> out;
    const std::string name = text(object, "/metadata/name");
    if (kind == api::kPod) {
        pod(object, is_deleted, out);
    } else if (is_deleted) {
        return out;
    } else if (kind == api::kVirtualMachine) {
        const std::string status = text(object, "/status/printableStatus");
        if (!status.empty()) once("vm " + status, "machine " + name + ": " + status, out);
    } else if (kind == api::kVmi) {
        const std::string phase = text(object, "/status/phase");
        if (phase == "Running") once("vmi running", "guest of " + name + " started on " + text(object, "/status/nodeName"), out);
    } else if (kind == api::kDataVolume) {
        const std::string phase = text(object, "/status/phase");
        if (!phase.empty()) once("dv " + name + phase, "disk " + name + ": " + phase, out);
    } else if (kind == api::kClaim) {
        const std::string node = text(object, "/metadata/annotations/volume.kubernetes.io~1selected-node");
        if (!node.empty()) once("claim node " + name, "claim " + name + ": the scheduler chose node " + node, out);
        if (text(object, "/status/phase") == "Bound") once("claim bound " + name, "claim " + name + " bound to " + text(object, "/spec/volumeName"), out);
    } else if (kind == api::kVolume) {
        const std::string node = text(object, "/spec/nodeAffinity/required/nodeSelectorTerms/0/matchExpressions/0/values/0");
        once("volume " + name, "volume " + name + " made on " + node, out);
    }
    return out;
}

}  // namespace berth::cli
