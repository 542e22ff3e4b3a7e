#include "hotplug/requests/warnings.hpp"

#include "json/value.hpp"

namespace berth::hotplug {
namespace {

// What a guest sees of a serial number: QEMU cuts off the rest.
constexpr std::size_t kSerialVirtio = 20;
constexpr std::size_t kSerialScsi = 36;

}  // namespace

std::vector<std::string> warnings_of(const api::Disk& disk, std::optional<std::int64_t> free_ports) {
    std::vector<std::string> out;
    const std::string bus = disk.disk ? disk.disk->bus : disk.lun ? disk.lun->bus : "";
    const std::size_t shown = bus == "virtio" ? kSerialVirtio : kSerialScsi;
    if (disk.disk && disk.serial.size() > shown) {
        out.push_back(
            "the guest sees only the first " + std::to_string(shown) + " characters of serial " +
            json::quoted(disk.serial) + " on bus " + bus
        );
    }
    if (bus == "virtio" && free_ports && *free_ports <= 0) {
        out.push_back(
            "no free port for bus virtio: disk " + json::quoted(disk.name) +
            " cannot be attached while the machine runs; use bus scsi"
        );
    }
    return out;
}

}  // namespace berth::hotplug
