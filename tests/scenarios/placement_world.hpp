// A simulated installation with the words that scenarios of placement use.
#pragma once

#include <gtest/gtest.h>

#include <set>

#include "base/ranges.hpp"
#include "sim/world.hpp"

namespace berth::sim {

using namespace std::chrono_literals;

/// A disk of a VM: a template whose DataVolume the VM's volume names.
struct DiskText {
    std::string name;
    std::string source = R"({"http":{"url":"http://images/a.raw"}})";
    std::string storage_class = "local";
};

/// YAML a user would write, as JSON: VM "web" with these disks. `spec` and `machine` are added to the two specs.
struct VmText {
    std::string name = "web";
    std::string strategy = "Always";
    std::vector<DiskText> disks = {{"root"}};
    std::vector<std::string> claims = {};  ///< volumes that name a claim
    std::string annotations = {};          ///< members of metadata.annotations
    std::string machine = {};              ///< members of template.spec, each with a comma behind it

    [[nodiscard]] std::string json() const {
        std::string templates, volumes;
        for (const DiskText& disk : disks) {
            if (!templates.empty()) templates += ",";
            templates += R"({"metadata":{"name":")" + disk.name + R"("},"spec":{"source":)" + disk.source +
                         R"(,"pvc":{"storageClassName":")" + disk.storage_class +
                         R"(","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}})";
            if (!volumes.empty()) volumes += ",";
            volumes += R"({"name":")" + disk.name + R"(","dataVolume":{"name":")" + disk.name + R"("}})";
        }
        for (const std::string& claim : claims) {
            if (!volumes.empty()) volumes += ",";
            volumes += R"({"name":")" + claim + R"(","persistentVolumeClaim":{"claimName":")" + claim + R"("}})";
        }
        return R"({"apiVersion":"kubevirt.io/v1","kind":"VirtualMachine","metadata":{"name":")" + name +
               R"(","annotations":{)" + annotations + R"(}},"spec":{"runStrategy":")" + strategy +
               R"(","dataVolumeTemplates":[)" + templates + R"(],"template":{"spec":{)" + machine +
               R"("domain":{"memory":{"guest":"256Mi"},"devices":{}},"volumes":[)" + volumes + "]}}}}";
    }
};

inline std::string claim_text(const std::string& name, const std::string& storage_class = "local") {
    return R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":")" + name +
           R"("},"spec":{"storageClassName":")" + storage_class +
           R"(","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}})";
}

class PlacementWorld : public ::testing::Test {
protected:
    PlacementWorld() : world({.echo = std::getenv("ECHO") != nullptr}) {
        world.machines.sources["http://images/a.raw"];
    }

    std::string vm_word(const std::string& name = "web") {
        return world.text(api::kVirtualMachine, name, "/status/printableStatus");
    }
    std::string vmi(std::string_view pointer, const std::string& name = "web") {
        return world.text(api::kVmi, name, pointer);
    }
    std::string disk_phase(const std::string& name = "root") {
        return world.text(api::kDataVolume, name, "/status/phase");
    }
    std::string uid(const api::Kind& kind, const std::string& name) { return world.text(kind, name, "/metadata/uid"); }

    void make(const VmText& text) {
        const Result<kube::Document> made = world.create(text.json());
        ASSERT_TRUE(made.has_value()) << made.error().message;
    }
    ::testing::AssertionResult shows(const std::string& word, Duration limit = 60s, const std::string& name = "web") {
        if (world.until([&] { return vm_word(name) == word; }, limit)) return ::testing::AssertionSuccess();
        return ::testing::AssertionFailure() << "the VM shows " << vm_word(name) << ", not " << word;
    }
    void run(const VmText& text = {}) {
        make(text);
        ASSERT_TRUE(shows("Running", 60s, text.name));
        world.run_for(2s);  // what watchers still have to hear
    }
    /// The reason of a VMI's condition while it is False, "True", or "-".
    std::string condition(std::string_view type, const std::string& name = "web") {
        const auto found = world.get(api::kVmi, "default", name);
        if (!found) return "gone";
        const json::Value* list = json::find(**found, "/status/conditions");
        if (list == nullptr) return "-";
        for (const json::Value& one : list->get_array()) {
            if (json::text_at(one, "/type") != type) continue;
            const std::string_view reason = json::text_at(one, "/reason");
            return std::string(json::text_at(one, "/status")) + (reason.empty() ? "" : " " + std::string(reason));
        }
        return "-";
    }
    /// Pods of a machine ever seen, those that only bind claims or those that host the guest.
    std::vector<std::string> pods(bool temporary, const std::string& name = "web") {
        std::vector<std::string> out;
        for (const Seen& seen : world.history()) {
            if (*seen.kind != api::kPod || seen.type != "ADDED") continue;
            if (!seen.name().starts_with("virt-launcher-" + name + "-")) continue;
            if (!seen.text("/metadata/annotations/kubevirt.io~1ephemeral-provisioning").empty() != temporary) continue;
            if (!contains(out, seen.name())) out.push_back(seen.name());
        }
        return out;
    }
    bool has_event(const std::string& object, const std::string& prefix) {
        return std::ranges::any_of(world.events_of(object), [&](const std::string& event) {
            return event.starts_with(prefix);
        });
    }
    std::string volume_node(const std::string& claim) {
        const std::string volume = world.text(api::kClaim, claim, "/spec/volumeName");
        return world.text(
            api::kVolume, volume, "/spec/nodeAffinity/required/nodeSelectorTerms/0/matchExpressions/0/values/0"
        );
    }
    bool is_gone(const api::Kind& kind, const std::string& name) {
        return !world.get(kind, "default", name).has_value();
    }

    World world;
};

}  // namespace berth::sim
