// Short forms of objects for the table tests of this folder: JSON text in, typed objects out.
#pragma once

#include <list>
#include <string_view>

#include "api/codec.hpp"
#include "api/core.hpp"
#include "base/check.hpp"

namespace berth::solo::testing {

/// An object from JSON text. Single quotes stand for double ones.
template <class T>
T object(std::string_view text) {
    std::string json(text);
    std::ranges::replace(json, '\'', '"');
    const Result<json::Value> document = json::parse(json);
    CHECK(document.has_value());
    Result<T> typed = api::decode<T>(*document);
    CHECK(typed.has_value());
    return std::move(*typed);
}

/// 2026-01-02T03:00:00Z and some seconds.
inline Timestamp at(int seconds) { return *from_rfc3339("2026-01-02T03:00:00Z") + std::chrono::seconds(seconds); }

inline api::Node node(
    const std::string& name,
    std::string_view cpu = "4",
    std::string_view memory = "8Gi",
    std::string_view storage = "100Gi"
) {
    api::Node out;
    out.metadata.name = name;
    out.metadata.labels = {
        {"kubernetes.io/hostname", name   },
        {"kubernetes.io/arch",     "amd64"}
    };
    out.status.allocatable = {
        {"cpu",                     {std::string(cpu)}    },
        {"memory",                  {std::string(memory)} },
        {"pods",                    {"110"}               },
        {"local.berth.dev/storage", {std::string(storage)}}
    };
    return out;
}

inline api::StorageClass storage_class(
    const std::string& name, const std::string& provisioner, std::string_view mode = "WaitForFirstConsumer"
) {
    api::StorageClass out;
    out.metadata.name = name;
    out.provisioner = provisioner;
    out.volume_binding_mode = mode;
    out.reclaim_policy = "Delete";
    out.allow_volume_expansion = true;
    return out;
}

inline api::PersistentVolumeClaim claim(const std::string& name, const std::string& class_name, std::string_view size) {
    api::PersistentVolumeClaim out;
    out.metadata.name = name;
    out.metadata.ns = "default";
    out.metadata.uid = {"uid-" + name};
    out.metadata.resource_version = {"7"};
    out.spec.storage_class_name = class_name;
    out.spec.access_modes = {"ReadWriteOnce"};
    out.spec.resources.requests["storage"] = {std::string(size)};
    out.status.phase = "Pending";
    return out;
}

/// A claim that is bound for good.
inline api::PersistentVolumeClaim bound(api::PersistentVolumeClaim claim, const std::string& volume) {
    claim.spec.volume_name = volume;
    claim.metadata.annotations["pv.kubernetes.io/bind-completed"] = "yes";
    claim.metadata.annotations["pv.kubernetes.io/bound-by-controller"] = "yes";
    claim.status.phase = "Bound";
    claim.status.access_modes = claim.spec.access_modes;
    claim.status.capacity = claim.spec.resources.requests;
    return claim;
}

inline api::PersistentVolumeClaim selected(api::PersistentVolumeClaim claim, const std::string& node) {
    claim.metadata.annotations["volume.kubernetes.io/selected-node"] = node;
    return claim;
}

/// An available volume; node "" = reachable from everywhere.
inline api::PersistentVolume volume(
    const std::string& name, const std::string& class_name, std::string_view size, const std::string& node = ""
) {
    api::PersistentVolume out;
    out.metadata.name = name;
    out.metadata.uid = {"uid-" + name};
    out.metadata.resource_version = {"9"};
    out.spec.storage_class_name = class_name;
    out.spec.access_modes = {"ReadWriteOnce"};
    out.spec.capacity["storage"] = {std::string(size)};
    out.spec.reclaim_policy = "Delete";
    out.spec.local = api::LocalVolumeSource{"/disks/" + name, ""};
    out.status.phase = "Available";
    if (!node.empty()) {
        api::NodeSelectorTerm term;
        term.match_expressions = {
            {"kubernetes.io/hostname", "In", {node}}
        };
        out.spec.node_affinity = api::VolumeNodeAffinity{api::NodeSelector{{term}}};
    }
    return out;
}

/// A volume whose claimRef names the claim, UID and all.
inline api::PersistentVolume held(
    api::PersistentVolume volume, const api::PersistentVolumeClaim& claim, std::string_view phase = "Bound"
) {
    volume.spec.claim_ref = api::ObjectReference{
        .api_version = "v1",
        .kind = "PersistentVolumeClaim",
        .ns = claim.metadata.ns,
        .name = claim.metadata.name,
        .uid = claim.metadata.uid
    };
    volume.status.phase = phase;
    return volume;
}

inline api::Pod pod(const std::string& name) {
    api::Pod out;
    out.metadata.name = name;
    out.metadata.ns = "default";
    out.metadata.uid = {"uid-" + name};
    out.spec.containers.push_back({.name = "compute", .image = "berth.local/launcher"});
    out.status.phase = "Pending";
    return out;
}

inline api::Pod asks(api::Pod pod, std::string_view cpu, std::string_view memory) {
    pod.spec.containers[0].resources.requests = {
        {"cpu",    {std::string(cpu)}   },
        {"memory", {std::string(memory)}}
    };
    return pod;
}

inline api::Pod with_claim(api::Pod pod, const std::string& claim) {
    api::PodVolume volume;
    volume.name = claim;
    volume.persistent_volume_claim = api::ClaimVolumeSource{claim, false};
    pod.spec.volumes.push_back(std::move(volume));
    return pod;
}

inline api::Pod on_node(api::Pod pod, const std::string& node) {
    pod.spec.node_name = node;
    pod.status.phase = "Running";
    return pod;
}

}  // namespace berth::solo::testing
