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
    std::string message;
    int count = 0;
    Timestamp at;
};

struct View {
    api::Key key;
    std::optional<api::Pod> pod;  ///< none: no such pod any more
    Uid uid;                      ///< of the pod, or of the one whose leftovers are here
    std::vector<ContainerInfo> containers;  ///< of this UID, as the runtime lists them
    bool has_directory = false;

    std::map<std::string, std::string> prepared;  ///< pod volume → path on the host
    std::map<std::string, Failure> volume_failures;
    std::map<std::string, Failure> start_failures;  ///< by container
    std::set<std::string> signalled;                ///< "<container id> TERM" and "<container id> KILL" that were sent

    std::map<std::string, api::PersistentVolumeClaim> claims;  ///< by claim name
    std::map<std::string, api::PersistentVolume> volumes;      ///< by volume name
    std::map<std::string, api::ConfigMap> config_maps;
    std::map<std::string, api::Secret> secrets;

    std::string node_address;
    Timestamp now;
};

/// The plan for one pod: at most one kind of step, the status that is true now, and who must act next.
api::Plan sync(const View& view);

/// The whole status, computed from what the runtime shows.
api::PodStatus status_of(const View& view);

/// What the runtime is asked to start for an attempt of a container.
/// Errors  invalid: an environment reference to what is not there; not_found: a volume that is not prepared
Result<ContainerSpec> container_spec(const View& view, const api::Container& container, std::int64_t attempt);

}  // namespace berth::solo::kubelet
