// What one plugged disk is to libvirt, and what its storage allows. See plugs.hpp.
#include <algorithm>
#include <cstdlib>

#include "launcher/plan/domain.hpp"
#include "launcher/plan/plugs.hpp"

namespace berth::launcher {
namespace {

constexpr std::int64_t kImageAlignment = 1 << 20;

double overhead_of(const MachineDisk& disk) {
    const double overhead = std::strtod(disk.overhead.c_str(), nullptr);
    return overhead > 0 && overhead < 1 ? overhead : 0;
}

}  // namespace

bool is_ready(const MachineDisk& disk, const SourceFacts& facts) {
    return facts.opens && facts.is_device == disk.block && (facts.is_device || facts.size > 0);
}

std::int64_t grown_size(const MachineDisk& disk, const SourceFacts& facts) {
    if (facts.is_device) return facts.size;
    const std::int64_t there_is = facts.usable > 0 ? std::min(facts.usable, disk.claim_size) : disk.claim_size;
    const auto size = static_cast<std::int64_t>((1 - overhead_of(disk)) * static_cast<double>(there_is));
    return size / kImageAlignment * kImageAlignment;
}

Result<std::string> attach_xml(const MachineDisk& disk, const SourceFacts& facts) {
    DomainInput input;
    if (!facts.takes_direct_io) input.without_direct_io.insert(disk.path);
    TRY(const Element device, disk_element(disk, input, 0));
    return print(device);
}

std::string medium_xml(const MachineDisk& disk, const LiveDisk& drive) {
    Element out{"disk"};
    const bool is_block = disk.block || disk.path.empty();
    out.set("type", is_block ? "block" : "file").set("device", "cdrom");
    out.add("driver").set("name", "qemu").set("type", "raw");
    if (!disk.path.empty()) out.add("source").set(is_block ? "dev" : "file", disk.path);
    out.add("target").set("dev", drive.target).set("bus", drive.bus);
    out.add("readonly");
    return print(out);
}

std::string explain_attach_error(const MachineDisk& disk, std::string_view said) {
    if (said.find("No more available PCI slots") != said.npos) {
        return "no PCI port is free for one more disk on bus " + disk.bus +
               ": use bus scsi, or restart the machine, which makes new ports";
    }
    return std::string(said);
}

}  // namespace berth::launcher
