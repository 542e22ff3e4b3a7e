// What a running domain's XML says, as far as we report it. libvirt writes it, always in one form, so a scan is enough.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth::launcher {

struct LiveDisk {
    std::string name;    ///< volume: its alias without "ua-"
    std::string target;  ///< "vda"
    bool has_medium = false;
    std::string device = "disk";  ///< "disk", "cdrom", "lun"
    std::string bus = {};         ///< "virtio", "scsi", "sata", "usb"
    std::string path = {};        ///< of the medium
    bool operator==(const LiveDisk&) const = default;
};

struct LiveDomain {
    std::string type;          ///< "kvm", "qemu"
    std::string machine_type;  ///< "pc-q35-7.2"
    std::vector<LiveDisk> disks;
    bool operator==(const LiveDomain&) const = default;
};

LiveDomain read_live(std::string_view xml);

}  // namespace berth::launcher
