// The disk that tells a guest who it is: cloud-init's NoCloud and ConfigDrive, from a volume of the VMI.
// Source: https://cloudinit.readthedocs.io/en/latest/reference/datasources/nocloud.html
#pragma once

#include <string>

#include "api/kubevirt.hpp"

namespace berth::launcher {

/// What goes onto the disk. The two folders hold the files of a Secret that the pod has mounted; whoever writes the
/// disk fills user_data and network_data from there.
struct Seed {
    bool is_config_drive = false;
    std::string instance_id;
    std::string hostname;
    std::string user_data;
    std::string network_data;
    std::string user_data_folder;     ///< "" = user_data is complete
    std::string network_data_folder;  ///< "" = network_data is complete
    bool operator==(const Seed&) const = default;
};

/// The seed of a cloudInitNoCloud or cloudInitConfigDrive volume.
/// Errors  invalid: userDataBase64 or networkDataBase64 is not base64
Result<Seed> seed_of(const api::VirtualMachineInstance& vmi, const api::VmVolume& volume);

/// The disk: an ISO 9660 image labelled "cidata" or "config-2".
std::string seed_image(const Seed& seed);

/// Errors  invalid
Result<std::string> from_base64(std::string_view text);

}  // namespace berth::launcher
