#include "explain/milestones.hpp"

#include <algorithm>
#include <charconv>

#include "explain/pod.hpp"

namespace berth::explain {
namespace {

// One object, and what is known to have happened to it.
struct Story {
    const json::Value& object;
    std::vector<Milestone> out = {};

    [[nodiscard]] std::string text(std::string_view pointer) const {
        return std::string(json::text_at(object, pointer));
    }
    [[nodiscard]] std::string name() const { return text("/metadata/name"); }
    [[nodiscard]] bool is(std::string_view pointer, std::string_view value) const {
        return json::text_at(object, pointer) == value;
    }
    [[nodiscard]] std::optional<Timestamp> time(std::string_view pointer) const {
        return from_rfc3339(json::text_at(object, pointer));
    }
    [[nodiscard]] const json::Array& items(std::string_view pointer) const { return json::list_at(object, pointer); }
    /// When a condition took its present status.
    [[nodiscard]] std::optional<Timestamp> turned(std::string_view condition) const {
        for (const json::Value& item : items("/status/conditions")) {
            if (json::text_at(item, "/type") == condition) {
                return from_rfc3339(json::text_at(item, "/lastTransitionTime"));
            }
        }
        return std::nullopt;
    }
    Milestone& say(std::string what, std::optional<Timestamp> at = {}, std::string event_reason = "") {
        out.push_back({std::move(what), at, std::move(event_reason), ""});
        return out.back();
    }
    void created(const std::string& what) { say(what, time("/metadata/creationTimestamp")); }
};

std::string annotation(const std::string& key) { return "/metadata/annotations/" + json::escape_key(key); }

void of_vm(Story& story) {
    const std::string vm = "vm/" + story.name();
    story.created(vm + " created");
    if (story.is("/status/printableStatus", "Running")) story.say(vm + " is Running", story.turned("Ready"));
    if (const auto at = story.time("/metadata/deletionTimestamp")) story.say(vm + " deleted by its user", at);
}

std::optional<Timestamp> entered(const Story& story, std::string_view phase) {
    for (const json::Value& item : story.items("/status/phaseTransitionTimestamps")) {
        if (json::text_at(item, "/phase") == phase) {
            return from_rfc3339(json::text_at(item, "/phaseTransitionTimestamp"));
        }
    }
    return std::nullopt;
}

bool is_hotpluggable(const json::Value& volume) {
    return json::bool_at(volume, "/dataVolume/hotpluggable") ||
           json::bool_at(volume, "/persistentVolumeClaim/hotpluggable");
}

void say_of_plug(Story& story, const std::string& text, std::string reason, const std::string& volume) {
    story.say(text, {}, std::move(reason)).event_word = volume;
}

void of_plugs(Story& story) {
    std::vector<std::string> asked;
    for (const json::Value& volume : story.items("/spec/volumes")) {
        if (!is_hotpluggable(volume)) continue;
        asked.emplace_back(json::text_at(volume, "/name"));
        story.say("volume " + asked.back() + " asked for");
    }
    for (const json::Value& entry : story.items("/status/volumeStatus")) {
        if (json::find(entry, "/hotplugVolume") == nullptr) continue;
        const std::string volume(json::text_at(entry, "/name"));
        const std::string_view phase = json::text_at(entry, "/phase");
        if (std::ranges::find(asked, volume) == asked.end()) story.say("volume " + volume + " is to go");
        if (phase == "MountedToPod") {
            say_of_plug(story, "volume " + volume + " is in the launcher pod", "VolumeMountedToPod", volume);
        } else if (json::text_at(entry, "/reason") == "DetachPending") {
            story.say("the guest is asked to let volume " + volume + " go");
        } else if (const std::string_view target = json::text_at(entry, "/target");
                   phase == "Ready" && !target.empty()) {
            const std::string text = "the guest has volume " + volume + " as " + std::string(target);
            say_of_plug(story, text, "VolumeReady", volume);
        } else if (phase == "UnMountedFromPod") {
            say_of_plug(story, "volume " + volume + " is out of the launcher pod", "VolumeUnMountedFromPod", volume);
        }
    }
}

void of_vmi(Story& story) {
    const std::string vmi = "vmi/" + story.name();
    story.created(vmi + " created");
    const std::string started = "guest started on " + story.text("/status/nodeName");
    if (story.is("/status/phase", "Running")) story.say(started, entered(story, "Running"), "Started");
    if (story.is("/status/phase", "Failed")) story.say(vmi + " failed", entered(story, "Failed"));
    if (story.is("/status/phase", "Succeeded")) story.say("guest has shut down", entered(story, "Succeeded"));
    for (const json::Value& condition : story.items("/status/conditions")) {
        if (json::text_at(condition, "/type") != "LiveMigratable" || json::text_at(condition, "/status") != "False") {
            continue;
        }
        const std::string reason(json::text_at(condition, "/reason"));
        story.say(vmi + " cannot be migrated live: " + reason, story.turned("LiveMigratable"));
    }
    of_plugs(story);
}

// Which quarter of the work is done: a line for each, not for each per cent.
int quarter_of(std::string_view progress) {
    int per_cent = 0;
    std::from_chars(progress.data(), progress.data() + progress.size(), per_cent);
    return per_cent / 25;
}

void of_data_volume(Story& story) {
    const std::string dv = "dv/" + story.name();
    story.created(dv + " created");
    const std::string phase = story.text("/status/phase");
    if (phase == "WaitForFirstConsumer") {
        story.say(dv + " waits for the first consumer of its claim");
    } else if (phase == "ImportInProgress") {
        story.say(dv + " is being filled", {}, "ImportInProgress");
        const int quarter = quarter_of(story.text("/status/progress"));
        if (quarter > 0) story.say(dv + ": " + std::to_string(quarter * 25) + "% imported");
    } else if (phase == "Succeeded") {
        story.say(dv + " is filled", story.turned("Ready"), "ImportSucceeded");
    } else if (phase == "Failed") {
        story.say(dv + " failed", story.turned("Running"));
    }
}

void of_claim(Story& story) {
    const std::string claim = "pvc/" + story.name();
    const std::string selected = story.text(annotation("volume.kubernetes.io/selected-node"));
    story.created(claim + " created");
    if (!selected.empty()) story.say("node " + selected + " chosen for " + claim);
    if (story.is("/status/phase", "Bound")) story.say(claim + " bound", {}, "ProvisioningSucceeded");
    if (story.is("/status/phase", "Lost")) story.say(claim + " lost its volume");
}

std::string place_of_volume(const json::Value& volume) {
    return std::string(
        json::text_at(volume, "/spec/nodeAffinity/required/nodeSelectorTerms/0/matchExpressions/0/values/0")
    );
}

void of_volume(Story& story) {
    story.created("volume made on " + place_of_volume(story.object) + " for pvc/" + story.text("/spec/claimRef/name"));
}

// When the last container of the pod began or ended.
std::optional<Timestamp> latest(const Story& story, std::string_view pointer) {
    std::optional<Timestamp> out;
    for (const json::Value& status : story.items("/status/containerStatuses")) {
        const auto at = from_rfc3339(json::text_at(status, pointer));
        if (at && (!out || *at > *out)) out = at;
    }
    return out;
}

void of_pod(Story& story) {
    const std::string role = role_of_pod(story.object);
    const std::string node = story.text("/spec/nodeName");
    story.created(role + " created");
    if (!node.empty()) story.say(role + " placed on " + node, story.turned("PodScheduled"), "Scheduled");
    if (story.is("/status/phase", "Running")) {
        story.say(role + " runs on " + node, latest(story, "/state/running/startedAt"), "Started");
    } else if (story.is("/status/phase", "Succeeded")) {
        story.say(role + " is done", latest(story, "/state/terminated/finishedAt"));
    } else if (story.is("/status/phase", "Failed")) {
        story.say(role + " failed", latest(story, "/state/terminated/finishedAt"));
    }
}

std::string farewell(const api::Kind& kind, const json::Value& object) {
    const std::string name(json::text_at(object, "/metadata/name"));
    if (kind == api::kVirtualMachine) return "vm/" + name + " is gone";
    if (kind == api::kVmi) return "vmi/" + name + " is gone";
    if (kind == api::kDataVolume) return "dv/" + name + " is gone";
    if (kind == api::kClaim) return "pvc/" + name + " is gone";
    if (kind == api::kPod) return role_of_pod(object) + " removed";
    if (kind != api::kVolume) return "";
    const std::string claim(json::text_at(object, "/spec/claimRef/name"));
    return "volume of pvc/" + claim + " removed from " + place_of_volume(object);
}

std::vector<std::string> plugs_of(const json::Value& vmi) {
    std::vector<std::string> out;
    for (const json::Value& entry : Story{vmi}.items("/status/volumeStatus")) {
        if (json::find(entry, "/hotplugVolume") != nullptr) out.emplace_back(json::text_at(entry, "/name"));
    }
    return out;
}

}  // namespace

std::string role_of_pod(const json::Value& pod) {
    const std::string name(json::text_at(pod, "/metadata/name"));
    const bool goes_soon = json::find(pod, annotation(kProvisioning)) != nullptr;
    if (json::text_at(pod, "/metadata/labels/kubevirt.io") == "hotplug-disk") {
        return (goes_soon ? "trigger pod " : "attachment pod ") + name;
    }
    if (goes_soon) return "provisioning pod";
    if (name.starts_with("virt-launcher-")) return "launcher pod";
    if (name.starts_with("importer-")) return "worker " + name;
    return "pod " + name;
}

std::vector<Milestone> milestones(const api::Kind& kind, const json::Value& object) {
    struct Teller {
        const api::Kind& kind;
        void (*tell)(Story&);
    };
    const Teller tellers[] = {
        {api::kVirtualMachine, of_vm         },
        {api::kVmi,            of_vmi        },
        {api::kDataVolume,     of_data_volume},
        {api::kClaim,          of_claim      },
        {api::kVolume,         of_volume     },
        {api::kPod,            of_pod        },
    };
    Story story{object};
    for (const Teller& teller : tellers) {
        if (teller.kind == kind) teller.tell(story);
    }
    return std::move(story.out);
}

std::vector<std::string> steps_between(const api::Kind& kind, const json::Value* before, const json::Value* after) {
    std::vector<std::string> out;
    if (after == nullptr) {
        if (before != nullptr) out.push_back(farewell(kind, *before));
        std::erase(out, "");
        return out;
    }
    std::vector<Milestone> known;
    if (before != nullptr) known = milestones(kind, *before);
    for (const Milestone& milestone : milestones(kind, *after)) {
        if (std::ranges::find(known, milestone.text, &Milestone::text) == known.end()) out.push_back(milestone.text);
    }
    if (before == nullptr || kind != api::kVmi) return out;
    const std::vector<std::string> left = plugs_of(*after);
    for (const std::string& volume : plugs_of(*before)) {
        if (std::ranges::find(left, volume) == left.end()) out.push_back("volume " + volume + " is free again");
    }
    return out;
}

}  // namespace berth::explain
