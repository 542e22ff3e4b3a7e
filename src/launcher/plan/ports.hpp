// PCIe root ports: how many a machine gets. None can be added while it runs, so those for later hotplug are made at
// boot.
#pragma once

#include <cstdint>
#include <optional>

#include "base/text.hpp"

namespace berth::launcher {

struct PortFacts {
    std::int64_t in_use = 0;  ///< devices that take a port at boot, interfaces included
    std::int64_t interfaces = 0;
    Bytes memory;
    std::optional<std::int64_t> interface_slots;  ///< annotation kubevirt.io/pci-interface-slot-count
    bool on_root_complex = false;                 ///< annotation kubevirt.io/placePCIDevicesOnRootComplex
};

/// Root ports in total, at most 31 (hotplug.md 8.4).
std::int64_t root_ports(const PortFacts& facts);

}  // namespace berth::launcher
