// What one kubelet knows beside the caches, and how it fills the views of its rules; for the .cpp files of this folder.
#pragma once

#include "solo/controllers/kubelet.hpp"

namespace berth::solo {

/// Remembered about a pod; lost at a restart, and made again then.
struct PodMemory {
    kube::WorkKey key;
    std::map<std::string, std::string> prepared;
    std::map<std::string, kubelet::Failure> volume_failures;
    std::map<std::string, kubelet::Failure> start_failures;
    std::set<std::string> signalled;
    bool has_directory = false;
};

struct Kubelet::State {
    State(kube::Engine& e, std::string name, std::string at, Runtime& r, VolumeHost& v);

    kube::Engine& engine;
    std::string node;
    std::string address;
    Runtime& runtime;
    VolumeHost& volumes;
    kube::Cache<api::Pod>& pods;
    kube::Cache<api::PersistentVolumeClaim>& claims;
    kube::Cache<api::PersistentVolume>& volume_objects;
    kube::Cache<api::ConfigMap>& config_maps;
    kube::Cache<api::Secret>& secrets;
    kube::Cache<api::Node>& nodes;
    kube::Engine::Enqueue enqueue;

    std::map<Uid, PodMemory> memory;
    std::map<kube::WorkKey, std::set<Uid>> by_key;
    std::map<Uid, std::vector<ContainerInfo>> containers;
    bool knows_containers = false;
    std::uint64_t looks = 0;    ///< begun
    std::uint64_t applied = 0;  ///< the newest whose answer `containers` is

    /// A key names a pod; the UID that is looked at is the living pod's, or first that of leftovers under its name.
    kubelet::View fill(const kube::WorkKey& key);
    /// Puts every pod in the queue whose containers are not what they were.
    Task<Result<void>> look();
    Task<Result<void>> run(api::Effect effect);

    PodMemory& remember(const Uid& uid, const kube::WorkKey& key);
    void forget(const Uid& uid);
    void pod_changed(const api::ObjectMeta* before, const api::ObjectMeta* after);
    /// Pods of this node, in a namespace, for which something they wait for may have come.
    void enqueue_waiting(const std::string& ns);
    void enqueue_users(const api::PersistentVolumeClaim& claim);

private:
    void adopt(const kube::WorkKey& key);
    void copy_memory(kubelet::View& view);
    void join(kubelet::View& view, const api::PodVolume& volume) const;
    void join_projected(kubelet::View& view, const json::Value& projected) const;
    void join_environment(kubelet::View& view, const api::Container& container) const;

    Task<Result<void>> start(Uid uid, std::string container, std::int64_t attempt);
    Task<Result<void>> prepare(Uid uid, std::string volume);
    Task<Result<std::string>> make(Uid uid, std::string volume, kubelet::VolumeRequest request);
};

}  // namespace berth::solo
