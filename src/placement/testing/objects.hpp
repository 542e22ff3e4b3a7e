// Objects as tests of the placement rules need them, with as little said as possible. No product code includes this.
#pragma once

#include "api/codec.hpp"
#include "placement/names.hpp"

namespace berth::placement::testing {

using namespace std::chrono_literals;

inline const Timestamp kNow{std::chrono::seconds(1'767'312'000)};  // 2026-01-02T00:00:00Z

inline api::ObjectMeta meta(std::string name, std::string uid) {
    api::ObjectMeta out;
    out.name = std::move(name);
    out.ns = "default";
    out.uid = Uid{std::move(uid)};
    out.resource_version = ResourceVersion{"7"};
    out.creation_timestamp = kNow;
    return out;
}

inline api::Condition condition(
    std::string type, std::string status, std::string reason = "", std::string message = ""
) {
    return {
        .type = std::move(type), .status = std::move(status), .reason = std::move(reason), .message = std::move(message)
    };
}

/// "default/web" with UID vmi-1, one vCPU and 256Mi, in phase Pending.
inline api::VirtualMachineInstance machine() {
    api::VirtualMachineInstance out;
    out.metadata = meta("web", "vmi-1");
    out.metadata.annotations = {
        {kLatestApiVersion,  "v1"},
        {kStorageApiVersion, "v1"}
    };
    out.metadata.finalizers = {kVmiFinalizer};
    out.spec.domain.memory.emplace().guest = Quantity{"256Mi"};
    out.spec.domain.cpu.emplace().model = "host-model";
    out.spec.architecture = "amd64";
    out.status.phase = "Pending";
    out.status.phase_transition_timestamps = {
        {"Pending", kNow}
    };
    return out;
}

inline api::VmVolume data_volume_volume(const std::string& name) {
    api::VmVolume out{.name = name};
    out.data_volume = api::DataVolumeVolumeSource{.name = name};
    return out;
}

inline api::VmVolume claim_volume(const std::string& name) {
    api::VmVolume out{.name = name};
    out.persistent_volume_claim = api::VmClaimSource{.claim_name = name};
    return out;
}

inline api::PersistentVolumeClaim claim(const std::string& name, std::string phase) {
    api::PersistentVolumeClaim out;
    out.metadata = meta(name, "claim-" + name);
    out.spec.access_modes = {"ReadWriteOnce"};
    out.spec.volume_mode = "Filesystem";
    out.spec.storage_class_name = "local";
    out.spec.resources.requests["storage"] = Quantity{"1Gi"};
    if (phase == "Bound") out.status.capacity["storage"] = Quantity{"1Gi"};
    out.status.phase = std::move(phase);
    return out;
}

inline void give_owner(api::ObjectMeta& object, std::string kind, std::string name, std::string uid) {
    const std::string group = kind == "DataVolume" ? "cdi.kubevirt.io/v1beta1" : "kubevirt.io/v1";
    object.owner_references = {
        {.api_version = group,
         .kind = std::move(kind),
         .name = std::move(name),
         .uid = Uid{std::move(uid)},
         .controller = true}
    };
}

inline api::DataVolume data_volume(const std::string& name, std::string phase) {
    api::DataVolume out;
    out.metadata = meta(name, "dv-" + name);
    out.status.phase = std::move(phase);
    return out;
}

inline json::Value running_state() {
    return json::Object{
        {"running", json::Object{{"startedAt", "2026-01-02T00:00:00Z"}}}
    };
}
inline json::Value exited_state(int code) {
    return json::Object{
        {"terminated", json::Object{{"exitCode", code}}}
    };
}
inline json::Value waiting_state(const char* reason, const char* message) {
    return json::Object{
        {"waiting", json::Object{{"reason", reason}, {"message", message}}}
    };
}

/// A pod of the machine in this phase; compute runs when the pod does, and has ended when it has.
inline api::Pod pod(const std::string& name, const std::string& phase, bool is_temporary) {
    api::Pod out;
    out.metadata = meta(name, name);
    give_owner(out.metadata, "VirtualMachineInstance", "web", "vmi-1");
    if (is_temporary) out.metadata.annotations[kTempPod] = "true";
    out.spec.containers.push_back({.name = "compute", .image = "berth.local/launcher"});
    out.status.phase = phase;
    if (phase != "Pending") {
        out.spec.node_name = "n1";
        api::ContainerStatus compute{.name = "compute"};
        compute.state = phase == "Running" ? running_state() : exited_state(phase == "Failed" ? 1 : 0);
        compute.ready = phase == "Running";
        out.status.container_statuses.push_back(std::move(compute));
    }
    return out;
}

}  // namespace berth::placement::testing
