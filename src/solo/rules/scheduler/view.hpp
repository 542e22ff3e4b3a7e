// What the scheduler looks at to place one pod with all its claims. Source: docs/spec/placement.md 4.2 to 4.4
#pragma once

#include <map>
#include <set>

#include "solo/rules/storage/provisioner.hpp"

namespace berth::solo::scheduler {

/// Amounts of cpu (thousandths), memory and ephemeral-storage (bytes), and of extended resources (units).
using Amounts = std::map<std::string, std::int64_t>;

struct NodeView {
    api::Node node;
    /// Pods that count here: scheduled and not ended, assumed, or reserved for a machine whose launcher is still to
    /// come.
    std::vector<const api::Pod*> pods;
    NodeRoom room;  ///< for claims of our own provisioner; what other pods were assumed to get is counted
};

/// The choice made for a pod, kept in memory until the API shows it: the next pass over any pod counts it.
struct Assumed {
    std::string node;
    Timestamp since;
    std::set<std::string> volumes;  ///< existing volumes chosen for its claims
    std::set<std::string> claims;   ///< its claims that are to be provisioned there
    bool operator==(const Assumed&) const = default;
};

struct View {
    api::Key key;
    std::optional<api::Pod> pod;
    std::vector<NodeView> nodes;                                           ///< in order of name
    std::map<std::string, api::PersistentVolumeClaim> claims;              ///< of the pod, by claim name
    std::vector<const api::PersistentVolume*> volumes;                     ///< all
    std::set<std::string> taken_volumes;                                   ///< assumed for other pods
    std::map<std::string, api::StorageClass> classes;                      ///< by name
    std::set<std::string> counting_drivers;                                ///< CSIDrivers with spec.storageCapacity
    std::vector<const api::CsiStorageCapacity*> capacities;                ///< all
    std::map<std::string, std::map<std::string, std::string>> namespaces;  ///< labels, by name
    std::set<std::string> exclusive_claims;  ///< ReadWriteOncePod claims that another pod uses
    std::optional<Assumed> assumed;          ///< what was chosen at an earlier pass
    int failures = 0;                        ///< attempts that failed in a row
    std::optional<Timestamp> not_before;     ///< the pause after the last of them
    Duration bind_timeout = std::chrono::seconds(600);
    std::string scheduler_name = "default-scheduler";
    Timestamp now;
};

struct Decision {
    api::Plan plan;
    std::optional<Assumed> assume;        ///< count the pod there from now on
    bool forget = false;                  ///< it is not assumed anywhere any more
    std::optional<Timestamp> not_before;  ///< the attempt failed: the next one comes at this time or later
};

Decision sync(const View& view);

/// What a pod asks for: the greatest of the sum of its containers with sidecars and the peaks of its init containers.
Amounts requests_of(const api::Pod& pod);
/// The part of it that is room of our own storage.
Bytes storage_request(const api::Pod& pod);

/// Why a pod cannot go to a node: the reasons of the first filter that refuses it; empty = it can.
std::vector<std::string> refusals(const View& view, const NodeView& node);

/// Higher is better; equal scores are decided by name.
std::int64_t score(const View& view, const NodeView& node);

/// How a claim would be bound on a node.
struct Binding {
    std::string claim;
    std::string volume;  ///< "" = to be provisioned
};
/// The bindings of all claims that are not bound yet; none: the node does not do, for `why`.
std::optional<std::vector<Binding>> bindings_on(const View& view, const NodeView& node, std::string& why);

}  // namespace berth::solo::scheduler
