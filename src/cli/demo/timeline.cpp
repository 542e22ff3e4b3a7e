#include "cli/demo/timeline.hpp"

#include <charconv>

#include "datavolume/names.hpp"

namespace berth::cli {
namespace {

const json::Value kNothing{json::Object{}};

// One object seen twice.
struct Change {
    const json::Value& before;
    const json::Value& after;
    bool appeared = false;
    bool vanished = false;

    [[nodiscard]] std::string name() const { return text("/metadata/name"); }
    [[nodiscard]] std::string text(std::string_view pointer) const {
        return std::string(json::text_at(vanished ? before : after, pointer));
    }
    /// The text there has become another one, and there is one.
    [[nodiscard]] bool came_to(std::string_view pointer) const {
        const std::string_view now = json::text_at(after, pointer);
        return !now.empty() && now != json::text_at(before, pointer);
    }
    [[nodiscard]] bool came_to(std::string_view pointer, std::string_view value) const {
        return came_to(pointer) && json::text_at(after, pointer) == value;
    }
    /// It is being deleted, and was not before.
    [[nodiscard]] bool was_doomed() const { return came_to("/metadata/deletionTimestamp"); }
};

using Steps = std::vector<std::string>;

std::string annotation(const std::string& key) { return "/metadata/annotations/" + json::escape_key(key); }

Steps of_vm(const Change& change) {
    Steps steps;
    const std::string vm = "vm/" + change.name();
    if (change.appeared) steps.push_back(vm + " created");
    if (change.was_doomed()) steps.push_back(vm + " deleted by its user");
    if (change.came_to("/status/printableStatus", "Running")) steps.push_back(vm + " is Running");
    if (change.vanished) steps.push_back(vm + " is gone");
    return steps;
}

Steps of_vmi(const Change& change) {
    Steps steps;
    const std::string vmi = "vmi/" + change.name();
    if (change.appeared) steps.push_back(vmi + " created");
    if (change.came_to("/status/phase", "Running"))
        steps.push_back("guest started on " + change.text("/status/nodeName"));
    if (change.came_to("/status/phase", "Failed")) steps.push_back(vmi + " failed");
    if (change.came_to("/status/phase", "Succeeded")) steps.push_back("guest has shut down");
    if (change.vanished) steps.push_back(vmi + " is gone");
    return steps;
}

// Which quarter of the work is done: a line for each, not for each per cent.
int quarter_of(std::string_view progress) {
    int per_cent = 0;
    std::from_chars(progress.data(), progress.data() + progress.size(), per_cent);
    return per_cent / 25;
}

Steps of_data_volume(const Change& change) {
    Steps steps;
    const std::string dv = "dv/" + change.name();
    if (change.appeared) steps.push_back(dv + " created");
    if (change.vanished) steps.push_back(dv + " is gone");
    if (change.vanished) return steps;
    const std::string phase = change.text("/status/phase");
    if (change.came_to("/status/phase")) {
        if (phase == "WaitForFirstConsumer") {
            steps.push_back(dv + " waits for the first consumer of its claim");
        } else if (phase == "ImportInProgress") {
            steps.push_back(dv + " is being filled");
        } else if (phase == "Succeeded") {
            steps.push_back(dv + " is filled");
        } else if (phase == "Failed") {
            steps.push_back(dv + " failed");
        }
    }
    const int quarter = quarter_of(json::text_at(change.after, "/status/progress"));
    const bool advanced = quarter > quarter_of(json::text_at(change.before, "/status/progress"));
    if (phase == "ImportInProgress" && advanced)
        steps.push_back(dv + ": " + change.text("/status/progress") + " imported");
    return steps;
}

Steps of_claim(const Change& change) {
    Steps steps;
    const std::string claim = "pvc/" + change.name();
    const std::string selected = annotation("volume.kubernetes.io/selected-node");
    if (change.appeared) steps.push_back(claim + " created");
    if (change.came_to(selected)) steps.push_back("node " + change.text(selected) + " chosen for " + claim);
    if (change.came_to("/status/phase", "Bound")) steps.push_back(claim + " bound");
    if (change.came_to("/status/phase", "Lost")) steps.push_back(claim + " lost its volume");
    if (change.vanished) steps.push_back(claim + " is gone");
    return steps;
}

Steps of_volume(const Change& change) {
    const std::string claim = "pvc/" + change.text("/spec/claimRef/name");
    const std::string node = change.text("/spec/nodeAffinity/required/nodeSelectorTerms/0/matchExpressions/0/values/0");
    if (change.appeared) return {"volume made on " + node + " for " + claim};
    if (change.vanished) return {"volume of " + claim + " removed from " + node};
    return {};
}

std::string role_of(const Change& change) {
    const std::string name = change.name();
    if (!change.text(annotation(datavolume::kProvisioningPod)).empty()) return "provisioning pod";
    if (name.starts_with("virt-launcher-")) return "launcher pod";
    if (name.starts_with("importer-")) return "worker " + name;
    return "pod " + name;
}

Steps of_pod(const Change& change) {
    Steps steps;
    const std::string role = role_of(change);
    const std::string node = change.text("/spec/nodeName");
    if (change.appeared) steps.push_back(role + " created" + (node.empty() ? "" : " on " + node));
    if (!change.appeared && change.came_to("/spec/nodeName")) steps.push_back(role + " placed on " + node);
    if (change.came_to("/status/phase", "Running")) steps.push_back(role + " runs on " + node);
    if (change.came_to("/status/phase", "Succeeded")) steps.push_back(role + " is done");
    if (change.came_to("/status/phase", "Failed")) steps.push_back(role + " failed");
    if (change.vanished) steps.push_back(role + " removed");
    return steps;
}

}  // namespace

std::vector<std::string> steps_between(const api::Kind& kind, const json::Value* before, const json::Value* after) {
    if (before == nullptr && after == nullptr) return {};
    const Change change{
        before == nullptr ? kNothing : *before,
        after == nullptr ? kNothing : *after,
        before == nullptr,
        after == nullptr
    };
    if (kind == api::kVirtualMachine) return of_vm(change);
    if (kind == api::kVmi) return of_vmi(change);
    if (kind == api::kDataVolume) return of_data_volume(change);
    if (kind == api::kClaim) return of_claim(change);
    if (kind == api::kVolume) return of_volume(change);
    if (kind == api::kPod) return of_pod(change);
    return {};
}

}  // namespace berth::cli
