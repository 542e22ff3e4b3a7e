// Port: what a kubelet needs of its machine. crun and conmon in production, programs of the simulation in tests.
// A pod's directory and containers are found again after a restart of the caller: list() tells the truth.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/async/task.hpp"
#include "base/result.hpp"
#include "base/text.hpp"
#include "base/time.hpp"

namespace berth::solo {

struct Mount {
    std::string host_path;  ///< absolute, resolved by the kubelet
    std::string container_path;
    bool read_only = false;
    bool follows_host = false;  ///< HostToContainer: sees later mounts
    std::string sub_path = {};  ///< below host_path; made when it is not there, never followed out of it
};

struct Device {
    std::string host_path;  ///< a block device on the node
    std::string container_path;
    bool read_only = false;
};

struct ContainerSpec {
    Uid pod_uid;
    std::string pod_name;
    std::string pod_ns;
    std::string name;  ///< container name
    std::int64_t attempt = 0;
    std::string image;              ///< a reference that resolve_image() accepted
    std::vector<std::string> argv;  ///< empty: the image's own entry point
    std::vector<std::pair<std::string, std::string>> env;
    std::string working_dir;
    std::string hostname;
    std::int64_t uid = 0;
    std::int64_t gid = 0;
    std::optional<std::int64_t> fs_group;
    std::vector<std::string> capabilities;  ///< all that it gets, with or without "CAP_"
    bool privileged = false;
    std::vector<Mount> mounts;
    std::vector<Device> devices;
    Bytes memory_limit;  ///< 0 = none
    MilliCpu cpu_limit;  ///< 0 = none
    MilliCpu cpu_request;
    std::string termination_message_path;
    bool message_from_log = false;  ///< terminationMessagePolicy FallbackToLogsOnError
};

enum class ContainerPhase { created, running, exited };

struct ContainerInfo {
    Uid pod_uid;
    std::string name;
    std::int64_t attempt = 0;
    std::string id;
    ContainerPhase phase = ContainerPhase::created;
    int pid = 0;  ///< on the host, while running
    std::optional<Timestamp> started_at;
    std::optional<Timestamp> finished_at;
    int exit_code = 0;
    bool oom_killed = false;
    std::string termination_message;
};

class Runtime {
public:
    virtual ~Runtime() = default;

    /// Checks that an image can be used. Errors  not_found: with what was tried (the kubelet says ErrImagePull)
    virtual Task<Result<void>> resolve_image(std::string image) = 0;

    /// Creates and starts a container. Idempotent for the same (pod, name, attempt).
    virtual Task<Result<void>> start(ContainerSpec spec) = 0;

    /// Sends a signal ("TERM", "KILL") to the container's process 1. A container that is gone is a success.
    virtual Task<Result<void>> signal(std::string id, std::string name) = 0;

    /// Removes an exited container's state; keeps its log until remove_pod.
    virtual Task<Result<void>> remove(std::string id) = 0;

    /// Every container of this node, from what the machine shows.
    virtual Task<Result<std::vector<ContainerInfo>>> list() = 0;

    /// Called (on the loop) when a container changed: look again.
    virtual void on_change(std::function<void(Uid pod)> call) = 0;

    /// The log file of a container in the CRI format, or "".
    virtual std::string log_path(const Uid& pod, const std::string& container) = 0;
};

/// Port: pod directories, volumes and loop devices of a node.
class VolumeHost {
public:
    virtual ~VolumeHost() = default;

    /// Makes the pod's directory and returns its path.
    virtual Task<Result<std::string>> make_pod_dir(Uid pod) = 0;
    /// Makes an emptyDir (tmpfs when `in_memory`), owned by `fs_group` when given; shared when `propagates`.
    virtual Task<Result<std::string>> make_empty_dir(
        Uid pod, std::string volume, bool in_memory, std::optional<std::int64_t> fs_group, bool propagates
    ) = 0;
    /// Writes files (configMap, secret) atomically and returns the directory.
    virtual Task<Result<std::string>> write_files(
        Uid pod,
        std::string volume,
        std::map<std::string, std::string> files,
        std::int64_t mode,
        std::optional<std::int64_t> fs_group
    ) = 0;
    /// Checks that a hostPath or local volume is there (type as in hostPath.type) and gives it to fs_group; returns its
    /// path.
    virtual Task<Result<std::string>> open_path(
        std::string path, std::string type, std::optional<std::int64_t> fs_group
    ) = 0;
    /// Unmounts and removes everything of a pod. Never follows a mount into user data.
    virtual Task<Result<void>> remove_pod_dir(Uid pod) = 0;
    /// UIDs of pods that have a directory.
    virtual Task<Result<std::vector<Uid>>> list_pods() = 0;

    /// Provisioner: makes the volume's directory, or its file and loop device; returns spec.local.path. Idempotent.
    /// Errors  gone: this node cannot, another may (its claim is scheduled anew); any other: tried again here
    virtual Task<Result<std::string>> make_volume(std::string volume, Bytes size, bool block) = 0;
    virtual Task<Result<void>> delete_volume(std::string volume) = 0;
    virtual Task<Result<void>> grow_volume(std::string volume, Bytes size) = 0;
    /// Attaches again what a restart of the machine took away.
    virtual Task<Result<void>> restore_volumes() = 0;
};

}  // namespace berth::solo
