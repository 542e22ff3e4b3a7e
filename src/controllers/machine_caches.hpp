// What the controllers of machines look at: the caches of one engine and the indexes over them, once for all of them.
#pragma once

#include "controllers/claim_users.hpp"
#include "controllers/volume_users.hpp"
#include "kube/engine.hpp"
#include "placement/config.hpp"
#include "placement/outcome.hpp"
#include "placement/vmi/view.hpp"

namespace berth::controllers {

/// In whose name the controllers of machines write.
const kube::User& machine_identity();

struct MachineCaches {
    using Name = std::pair<std::string, std::string>;  ///< namespace, name

    /// `offered` is what the installation offers; the KubeVirt object is read live on top of it.
    MachineCaches(kube::Engine& e, placement::Config offered);

    /// Reads `config` anew: at the start of each pass.
    void read_config();

    [[nodiscard]] std::optional<placement::Failed> failed(const std::string& controller, const kube::WorkKey& key)
        const;

    /// A volume of the machine that names a claim, with its claim, its DataVolumes and the machine that has it.
    [[nodiscard]] placement::vmi::Disk disk_of(const api::VirtualMachineInstance& machine, const api::VmVolume& volume)
        const;

    /// The machine behind a pod: its controller, or the controller of the launcher pod that owns it; when that launcher
    /// has left the cache, the machine that the pod's annotations name. nullptr: none.
    [[nodiscard]] const api::VirtualMachineInstance* machine_of(const api::Pod& pod) const;

    kube::Engine& engine;
    placement::Config base;
    placement::Config config;
    kube::Cache<api::VirtualMachine>& machines;
    kube::Cache<api::VirtualMachineInstance>& instances;
    kube::Cache<api::Pod>& pods;
    kube::Cache<api::PersistentVolumeClaim>& claims;
    kube::Cache<api::DataVolume>& disks;
    kube::Cache<api::ControllerRevision>& revisions;
    kube::Cache<api::CdiConfig>& cdi_configs;
    kube::Cache<api::KubeVirt>& kubevirts;
    VolumeUsers<api::VirtualMachine> vms_of;
    VolumeUsers<api::VirtualMachineInstance> vmis_of;
    ClaimUsers pods_of;
};

}  // namespace berth::controllers
