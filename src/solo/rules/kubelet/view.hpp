// What a kubelet looks at to decide about one pod of its node.
#pragma once

#include <map>
#include <set>

#include "api/core.hpp"
#include "api/plan.hpp"
#include "solo/runtime.hpp"

namespace berth::solo::kubelet {

/// A step that failed, and when it is tried again: pulling an image, mounting a volume, starting a container.
struct Failure {
    std::string reason;  ///< as in a container's waiting state: ErrImagePull, CreateContainerError, …
    std::string message;
    int count = 0;  ///< in a row
    Timestamp at;
};

struct View {
    api::Key key;
    std::optional<api::Pod> pod;            ///< none: no such pod any more
    Uid uid;                                ///< of the pod, or of the one whose leftovers are here
    bool knows_containers = true;           ///< the runtime has been asked since the start
    std::vector<ContainerInfo> containers;  ///< of this UID, as the runtime lists them
    bool has_directory = false;

    std::map<std::string, std::string> prepared;  ///< pod volume → path on the host
    std::map<std::string, Failure> volume_failures;
    std::map<std::string, Failure> start_failures;  ///< by container
    std::set<std::string> signalled;                ///< "<id> TERM", "<id> KILL": what was sent already

    std::map<std::string, api::PersistentVolumeClaim> claims;  ///< by claim name
    std::map<std::string, api::PersistentVolume> volumes;      ///< by volume name
    std::map<std::string, api::ConfigMap> config_maps;
    std::map<std::string, api::Secret> secrets;

    std::optional<api::Node> node;  ///< this node; none: it has no object
    std::string node_address;
    Timestamp now;
};

/// The plan for one pod: at most one kind of step, the status that is true now, and who must act next.
api::Plan sync(const View& view);

/// The whole status, computed from what the runtime shows. One that is final stays as it is.
api::PodStatus status_of(const View& view);

/// What the runtime is asked to start for an attempt of a container.
/// Errors  invalid: an environment reference to what is not there; not_found: a volume that is not prepared
Result<ContainerSpec> container_spec(const View& view, const api::Container& container, std::int64_t attempt);

/// What the volume host is asked to make for a volume of the pod.
struct VolumeRequest {
    enum class Kind { empty_dir, path, files } kind = Kind::empty_dir;
    std::optional<std::int64_t> group;
    bool in_memory = false;                    ///< empty_dir
    bool propagates = false;                   ///< empty_dir: mounts made later show inside containers
    std::string path;                          ///< path
    std::string type;                          ///< path: as hostPath.type
    std::map<std::string, std::string> files;  ///< files: by relative path
    std::int64_t mode = 0644;                  ///< files
};
/// Errors  not_found, unavailable: what it needs is not there yet; invalid: no node can make it
Result<VolumeRequest> volume_request(const View& view, const api::PodVolume& volume);

}  // namespace berth::solo::kubelet
