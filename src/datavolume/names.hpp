// The wire names of the DataVolume system: annotations, labels, reasons, and what a worker finds in its environment.
// Contract: docs/spec/datavolumes.md 1.8, 3.1, 3.2
#pragma once

#include <string>

namespace berth::datavolume {

// Requests, on the claim.
inline constexpr const char* kImportSource = "cdi.kubevirt.io/storage.import.source";
inline constexpr const char* kImportEndpoint = "cdi.kubevirt.io/storage.import.endpoint";
inline constexpr const char* kImportSecret = "cdi.kubevirt.io/storage.import.secretName";
inline constexpr const char* kImportCertConfigMap = "cdi.kubevirt.io/storage.import.certConfigMap";
inline constexpr const char* kImportChecksum = "cdi.kubevirt.io/storage.import.checksum";
inline constexpr const char* kImportInsecure = "cdi.kubevirt.io/storage.import.insecureSkipVerify";
inline constexpr const char* kImportHeader = "cdi.kubevirt.io/storage.import.extraHeaders.";              ///< + number
inline constexpr const char* kImportSecretHeader = "cdi.kubevirt.io/storage.import.secretExtraHeaders.";  ///< + number
inline constexpr const char* kContentType = "cdi.kubevirt.io/storage.contentType";
inline constexpr const char* kPreallocationRequested = "cdi.kubevirt.io/storage.preallocation.requested";

// What became of them, on the claim.
inline constexpr const char* kImportPod = "cdi.kubevirt.io/storage.import.importPodName";
inline constexpr const char* kPodPhase = "cdi.kubevirt.io/storage.pod.phase";
inline constexpr const char* kPodRestarts = "cdi.kubevirt.io/storage.pod.restarts";
inline constexpr const char* kPodSchedulable = "cdi.kubevirt.io/storage.pod.schedulable";
inline constexpr const char* kFatalError = "cdi.kubevirt.io/storage.import.fatalError";
inline constexpr const char* kPreallocated = "cdi.kubevirt.io/storage.preallocation";
inline constexpr const char* kRunning = "cdi.kubevirt.io/storage.condition.running";
inline constexpr const char* kSourceRunning = "cdi.kubevirt.io/storage.condition.source.running";
inline constexpr const char* kBound = "cdi.kubevirt.io/storage.condition.bound";
inline constexpr const char* kPrime = "cdi.kubevirt.io/storage.populator.pvcPrime";

// Control and ownership.
inline constexpr const char* kImmediateBinding = "cdi.kubevirt.io/storage.bind.immediate.requested";
inline constexpr const char* kRetainPod = "cdi.kubevirt.io/storage.pod.retainAfterCompletion";
inline constexpr const char* kPriorityClass = "cdi.kubevirt.io/storage.pod.priorityclassname";
inline constexpr const char* kServiceAccount = "cdi.kubevirt.io/storage.pod.serviceAccountName";
inline constexpr const char* kPopulatedFor = "cdi.kubevirt.io/storage.populatedFor";
inline constexpr const char* kPrePopulated = "cdi.kubevirt.io/storage.prePopulated";
inline constexpr const char* kCreatedFor = "cdi.kubevirt.io/createdForDataVolume";
inline constexpr const char* kAllowAdoption = "cdi.kubevirt.io/allowClaimAdoption";
inline constexpr const char* kExternalPopulation = "cdi.kubevirt.io/externalPopulation";
inline constexpr const char* kCreatedByController = "cdi.kubevirt.io/storage.createdByController";
/// Who makes the claim's volume; Kubernetes' own.
inline constexpr const char* kProvisionedBy = "volume.kubernetes.io/storage-provisioner";
/// Our own: a volume is a directory on the node's file system, as large as its claim says.
inline constexpr const char* kLocalProvisioner = "local.berth.dev";
inline constexpr const char* kMinimumSize = "cdi.kubevirt.io/minimumSupportedPvcSize";
/// On the pod that binds a machine's claims (placement.md 1.5).
inline constexpr const char* kProvisioningPod = "kubevirt.io/ephemeral-provisioning";

// Worker pods.
inline constexpr const char* kWorkerImage = "berth.local/worker";
inline constexpr const char* kDataDir = "/data";
inline constexpr const char* kDiskFile = "/data/disk.img";
inline constexpr const char* kBlockDevice = "/dev/cdi-block-volume";
inline constexpr const char* kSpoolDir = "/scratch";
inline constexpr const char* kCertDir = "/certs";
inline constexpr const char* kSecretHeaderDir = "/extraheaders";
inline constexpr const char* kProgressDir = "/var/run/berth";
inline constexpr const char* kProgressVolume = "berth-worker";  ///< the emptyDir that is mounted there
inline constexpr int kWorkerUid = 107;

/// How a worker ends. Both failures leave one line of text as the termination message.
enum class WorkerExit {
    success = 0,
    transient = 1,  ///< the same bytes may succeed later
    permanent = 2,  ///< they cannot; the message says what to change
};

/// "importer-<claim>", shortened to 253 bytes where the claim's name is long.
std::string importer_name(const std::string& claim);

}  // namespace berth::datavolume
