// Wire names of the placement rules: labels, annotations, finalizers, condition types and reasons, and computed object
// names. Contract: docs/spec/placement.md 1.5, 2.9; design: children have names computed from what they are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/kubevirt.hpp"
#include "api/plan.hpp"

namespace berth::placement {

// Labels
inline constexpr const char* kLabelApp = "kubevirt.io";
inline constexpr const char* kLabelCreatedBy = "kubevirt.io/created-by";
inline constexpr const char* kLabelNodeName = "kubevirt.io/nodeName";
inline constexpr const char* kLabelVmName = "vm.kubevirt.io/name";
inline constexpr const char* kLabelVmiId = "vmi.kubevirt.io/id";
inline constexpr const char* kLabelSchedulable = "kubevirt.io/schedulable";

// Annotations
inline constexpr const char* kTempPod = "kubevirt.io/ephemeral-provisioning";  ///< only presence is tested
inline constexpr const char* kDomain = "kubevirt.io/domain";
inline constexpr const char* kTransportUnix = "kubevirt.io/migrationTransportUnix";
inline constexpr const char* kDefaultContainer = "kubectl.kubernetes.io/default-container";
inline constexpr const char* kEvictOnly = "descheduler.alpha.kubernetes.io/request-evict-only";
inline constexpr const char* kLatestApiVersion = "kubevirt.io/latest-observed-api-version";
inline constexpr const char* kStorageApiVersion = "kubevirt.io/storage-observed-api-version";
inline constexpr const char* kVmGeneration = "kubevirt.io/vm-generation";
inline constexpr const char* kImmediateDisks = "kubevirt.io/immediate-data-volume-creation";
inline constexpr const char* kAllowClaimAdoption = "cdi.kubevirt.io/allowClaimAdoption";
inline constexpr const char* kMemoryOverhead = "kubevirt.io/memory-overhead-bytes";
inline constexpr const char* kCreateMigrationTarget = "kubevirt.io/create-migration-target";

// Finalizers
inline constexpr const char* kVmiFinalizer = "kubevirt.io/foregroundDeleteVirtualMachine";
inline constexpr const char* kVmFinalizer = "kubevirt.io/virtualMachineControllerFinalize";
inline constexpr const char* kOrphanFinalizer = "orphan";

/// "virt-launcher-<vmi>-<5 characters>": a function of the VMI's UID, what the pod is for ("temp", "real") and its
/// claims, so a repeated create meets its own pod and never makes a second guest.
std::string pod_name(const api::VirtualMachineInstance& vmi, std::string_view role, std::vector<Uid> claims);

/// The value of label vmi.kubevirt.io/id: the VMI's name, shortened to 63 characters with a hash.
std::string vmi_id(const std::string& vmi_name);

/// The first DNS label of the VMI's name, at most 63 characters, or spec.hostname.
std::string hostname_of(const api::VirtualMachineInstance& vmi);

/// "revision-start-vm-<VM UID>-<generation>"
std::string revision_name(const Uid& vm, std::int64_t generation);

/// A UUID that is always the same for the same seed.
std::string uuid_from(std::string_view seed);

bool is_temp(const api::Pod& pod);

api::Key key_of(const api::VirtualMachine& vm);
api::Key key_of(const api::VirtualMachineInstance& vmi);
api::Key key_of(const api::Pod& pod);

/// A controller reference with blockOwnerDeletion, as all of ours are.
api::OwnerReference owned_by(const api::VirtualMachine& vm);
api::OwnerReference owned_by(const api::VirtualMachineInstance& vmi);

/// Adds apiVersion and kind in front of an encoded object.
template <class T>
json::Value document_of(const api::Kind& kind, const T& object);

}  // namespace berth::placement
