// A simulated installation with the words that scenarios of addvolume and removevolume use.
#pragma once

#include "placement_world.hpp"

namespace berth::sim {

struct PlugText {
    std::string name = "data";
    std::string disk = R"({"disk":{"bus":"scsi"}})";
    std::string claim = "data";
    std::string more = {};

    [[nodiscard]] std::string json() const {
        return R"({"name":")" + name + R"(","disk":)" + disk +
               R"(,"volumeSource":{"persistentVolumeClaim":{"claimName":")" + claim + R"("}})" + more + "}";
    }
};

class HotplugRequests : public PlacementWorld {
protected:
    static constexpr const char* kVm = "virtualmachines";
    static constexpr const char* kVmi = "virtualmachineinstances";

    kube::Response send(
        const std::string& resource,
        const std::string& verb,
        const std::string& body,
        const std::string& version = "v1",
        const std::string& type = "*/*",
        const std::string& name = "web"
    ) {
        kube::Request request;
        request.method = "PUT";
        request.path =
            "/apis/subresources.kubevirt.io/" + version + "/namespaces/default/" + resource + "/" + name + "/" + verb;
        request.headers["content-type"] = type;
        request.body = body;
        return world.request(std::move(request));
    }
    kube::Response add(const std::string& resource, const PlugText& text = {}) {
        return send(resource, "addvolume", text.json());
    }
    kube::Response remove(const std::string& resource, const std::string& name = "data") {
        return send(resource, "removevolume", R"({"name":")" + name + "\"}");
    }
    static std::string text(const kube::Response& response, std::string_view pointer) {
        return response.document ? std::string(json::text_at(*response.document, pointer)) : "no document";
    }
    std::string version_of(const api::Kind& kind) { return world.text(kind, "web", "/metadata/resourceVersion"); }
    std::string print(const api::Kind& kind, std::string_view pointer) {
        const auto found = world.get(kind, "default", "web");
        const json::Value* value = found ? json::find(**found, pointer) : nullptr;
        return value == nullptr ? "-" : json::print(*value);
    }
    void run_instance() {
        ASSERT_TRUE(world.create(std::string_view(
            R"({"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"web"},"spec":{
               "domain":{"memory":{"guest":"256Mi"},"devices":{"disks":[{"name":"root","disk":{"bus":"virtio"}}]}},
               "volumes":[{"name":"root","emptyDisk":{"capacity":"1Gi"}}]}})"
        )));
        ASSERT_TRUE(world.until([&] { return vmi("/status/phase") == "Running"; }, 60s));
        world.run_for(2s);
    }
    void gates(const std::string& on, const std::string& off) {
        const std::string developer = R"({"featureGates":[)" + on + R"(],"disabledFeatureGates":[)" + off + "]}";
        if (!world.get(api::kKubeVirt, "default", "kubevirt")) {
            ASSERT_TRUE(world.create(std::string_view(
                R"({"apiVersion":"kubevirt.io/v1","kind":"KubeVirt","metadata":{"name":"kubevirt"},"spec":{}})"
            )));
        }
        ASSERT_TRUE(world.patch(
            api::kKubeVirt, "kubevirt", R"({"spec":{"configuration":{"developerConfiguration":)" + developer + "}}}"
        ));
    }
    json::Value condition_of_vm(std::string_view type) {
        const auto found = world.get(api::kVirtualMachine, "default", "web");
        const json::Value* list = found ? json::find(**found, "/status/conditions") : nullptr;
        if (list == nullptr) return {};
        for (const json::Value& one : list->get_array()) {
            if (json::text_at(one, "/type") == type) return one;
        }
        return {};
    }
    bool needs_restart() { return json::text_at(condition_of_vm("RestartRequired"), "/status") == "True"; }
    /// Names of the machine's volumes and disks: "root data | root data".
    std::string lists() {
        std::string out;
        for (const char* at : {"/spec/volumes", "/spec/domain/devices/disks"}) {
            const auto found = world.get(api::kVmi, "default", "web");
            const json::Value* list = found ? json::find(**found, at) : nullptr;
            if (!out.empty()) out += " | ";
            std::string names;
            for (const json::Value& one : list == nullptr ? json::Array() : list->get_array())
                names += (names.empty() ? "" : " ") + std::string(json::text_at(one, "/name"));
            out += names;
        }
        return out;
    }
    ::testing::AssertionResult machine_has(const std::string& wanted, Duration limit = 90s) {
        if (world.until([&] { return lists() == wanted; }, limit)) return ::testing::AssertionSuccess();
        return ::testing::AssertionFailure() << "the machine has " << lists() << ", not " << wanted;
    }
    /// A write in the name of Berth itself: what people may not touch.
    kube::Response write(const api::Kind& kind, const std::string& merge_patch, const std::string& part = "") {
        kube::Request request;
        request.method = "PATCH";
        request.path = "/apis/kubevirt.io/v1/namespaces/default/" + std::string(kind.plural) + "/web" + part;
        request.headers["content-type"] = "application/merge-patch+json";
        request.body = merge_patch;
        request.user = {
            "system:serviceaccount:kubevirt:kubevirt-controller", {"system:masters", "system:authenticated"}
        };
        return world.request(std::move(request));
    }
    void expect_status(const kube::Response& got, int code, const std::string& reason, const std::string& part = "") {
        EXPECT_EQ(got.code, code);
        EXPECT_EQ(text(got, "/kind"), "Status");
        EXPECT_EQ(text(got, "/apiVersion"), "v1");
        EXPECT_EQ(text(got, "/reason"), reason);
        EXPECT_NE(text(got, "/message").find(part), std::string::npos) << text(got, "/message");
        if (got.document) EXPECT_EQ(json::integer_at(*got.document, "/code"), code);
    }
};

}  // namespace berth::sim
