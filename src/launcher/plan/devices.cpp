// The devices of a domain: disks, controllers, interfaces, the serial port. See domain.hpp.
//
// Cache mode. What a spec writes is kept. Where it writes nothing, a disk gets what KubeVirt gives it: "none" if its
// storage takes direct I/O, else "writethrough". Only the disk that the machine boots from gets "writeback": past the
// host's cache the BIOS reads in tiny pieces (3.2 to 3.6 s against 5.7 to 6.4 s to a shell: qemu-facts.md 2). Both pass
// the guest's flushes on to the storage, so what a guest has synced is there after a power cut. A shareable disk always
// gets "none": another machine must see each write at once.
#include <algorithm>

#include "launcher/plan/domain.hpp"
#include "launcher/plan/ports.hpp"

namespace berth::launcher {
namespace {

constexpr std::string_view kEmulator = "/usr/bin/qemu-system-x86_64";

struct Interface {
    std::string name;
    std::string model;
    std::string mac;
    std::int64_t boot_order = 0;
};

// The pod's network is the only one there is (design: solo network), so every interface is QEMU's own user network.
std::vector<Interface> interfaces_of(const api::VirtualMachineInstance& vmi) {
    const api::Devices& devices = vmi.spec.domain.devices;
    std::vector<Interface> out;
    if (const auto* list = devices.interfaces.if_array()) {
        for (const json::Value& entry : *list) {
            Interface one;
            one.name = json::text_at(entry, "/name");
            one.model = json::text_at(entry, "/model");
            one.mac = json::text_at(entry, "/macAddress");
            one.boot_order = json::integer_at(entry, "/bootOrder").value_or(0);
            out.push_back(std::move(one));
        }
    }
    const bool has_networks = vmi.spec.networks.is_array() && !vmi.spec.networks.get_array().empty();
    if (out.empty() && !has_networks && devices.autoattach_pod_interface.value_or(true))
        out.push_back({.name = "default", .model = "", .mac = ""});
    return out;
}

bool is_pcie(const api::VirtualMachineInstance& vmi) {
    const std::optional<api::Machine>& machine = vmi.spec.domain.machine;
    return !machine || machine->type.empty() || machine->type.find("q35") != std::string::npos;
}

std::string cache_of(const MachineDisk& disk, bool has_direct_io, bool boots) {
    if (!disk.spec.cache.empty()) return disk.spec.cache;
    if (disk.spec.shareable.value_or(false)) return "none";
    if (boots) return "writeback";
    return has_direct_io ? "none" : "writethrough";
}

std::string io_of(const MachineDisk& disk, const std::string& cache) {
    if (!disk.spec.io.empty()) return disk.spec.io;
    return (disk.block || disk.preallocated) && cache == "none" ? "native" : "";  // QEMU's default is a pool of threads
}

// Rules over all disks: a written order wins; else the first disk that can hold a system. With several disks and no
// order SeaBIOS looks at one that it chooses itself and stops there.
std::vector<std::int64_t> boot_orders(const std::vector<MachineDisk>& disks, const std::vector<Interface>& interfaces) {
    std::vector<std::int64_t> out;
    for (const MachineDisk& disk : disks) out.push_back(disk.spec.boot_order.value_or(0));
    const bool is_written = std::ranges::any_of(out, [](std::int64_t order) { return order != 0; }) ||
                            std::ranges::any_of(interfaces, [](const Interface& one) { return one.boot_order != 0; });
    if (is_written || disks.empty()) return out;
    const auto first = std::ranges::find_if(disks, [](const MachineDisk& disk) { return disk.device != "cdrom"; });
    out[first == disks.end() ? 0 : static_cast<std::size_t>(first - disks.begin())] = 1;
    return out;
}

bool uses_bus(const DomainInput& input, std::string_view bus) {
    return std::ranges::any_of(input.disks, [&](const auto& disk) { return disk.bus == bus; });
}

void add_controllers(Element& devices, const DomainInput& input, std::size_t interfaces) {
    const api::VirtualMachineInstance& vmi = input.vmi;
    const bool has_usb = uses_bus(input, "usb");
    if (has_usb) {
        devices.add(
            "controller",
            {
                {"type",  "usb"      },
                {"index", "0"        },
                {"model", "qemu-xhci"}
        }
        );
    } else {
        devices.add(
            "controller",
            {
                {"type",  "usb" },
                {"model", "none"}
        }
        );
    }
    devices.add(
        "controller",
        {
            {"type",  "scsi"       },
            {"index", "0"          },
            {"model", "virtio-scsi"}
    }
    );  // disks are hotplugged onto it
    if (uses_bus(input, "sata"))
        devices.add(
            "controller",
            {
                {"type",  "sata"},
                {"index", "0"   }
        }
        );
    if (!is_pcie(vmi)) return;

    PortFacts facts;
    facts.interfaces = static_cast<std::int64_t>(interfaces);
    facts.memory = guest_memory(vmi.spec.domain);
    facts.in_use =
        1 + facts.interfaces + (has_usb ? 1 : 0) + std::ranges::count(input.disks, "virtio", &MachineDisk::bus);
    if (vmi.spec.domain.devices.rng.is_object()) ++facts.in_use;
    if (vmi.spec.domain.devices.autoattach_mem_balloon.value_or(false)) ++facts.in_use;
    const std::string* const slots = vmi.metadata.annotation("kubevirt.io/pci-interface-slot-count");
    if (slots != nullptr && !slots->empty() && slots->size() < 3 &&
        slots->find_first_not_of("0123456789") == slots->npos) {
        facts.interface_slots = std::stoll(*slots);
    }
    const std::string* const flat = vmi.metadata.annotation("kubevirt.io/placePCIDevicesOnRootComplex");
    facts.on_root_complex = flat != nullptr && *flat == "true";
    devices.add(
        "controller",
        {
            {"type",  "pci"      },
            {"index", "0"        },
            {"model", "pcie-root"}
    }
    );  // must come before its ports
    for (std::int64_t i = 1; i <= root_ports(facts); ++i) {
        devices.add(
            "controller",
            {
                {"type",  "pci"            },
                {"index", std::to_string(i)},
                {"model", "pcie-root-port" }
        }
        );
    }
}

void add_interface(Element& devices, const Interface& one) {
    Element& out = devices.add(
        "interface",
        {
            {"type", "user"}
    }
    );
    if (!one.mac.empty())
        out.add(
            "mac",
            {
                {"address", one.mac}
        }
        );
    out.add(
        "model",
        {
            {"type", one.model.empty() ? "virtio" : one.model}
    }
    );
    out.add(
        "alias",
        {
            {"name", "ua-" + one.name}
    }
    );
    if (one.boot_order != 0) {
        out.add(
            "boot",
            {
                {"order", std::to_string(one.boot_order)}
        }
        );
    } else {
        out.add(
            "rom",
            {
                {"enabled", "no"}
        }
        );  // no network boot: the firmware is done sooner
    }
}

// The log keeps what is said while nobody is connected to the socket.
void add_serial(Element& devices) {
    Element& out = devices.add(
        "serial",
        {
            {"type", "unix"}
    }
    );
    out.add(
        "source",
        {
            {"mode", "bind"                    },
            {"path", std::string(kSerialSocket)}
    }
    );
    out.add(
        "log",
        {
            {"file",   std::string(kSerialLog)},
            {"append", "on"                   }
    }
    );
    out.add(
        "target",
        {
            {"port", "0"}
    }
    );
}

// "0000:81:01.0", as admission lets it pass; the last digit after the point is the function.
void add_pci_address(Element& out, const std::string& text) {
    out.add(
        "address",
        {
            {"type", "pci"},
            {"domain", "0x" + text.substr(0, 4)},
            {"bus", "0x" + text.substr(5, 2)},
            {"slot", "0x" + text.substr(8, 2)},
            {"function", "0x" + text.substr(11)}
    }
    );
}

}  // namespace

Result<Element> disk_element(const MachineDisk& disk, const DomainInput& input, std::int64_t boot_order) {
    const bool has_direct_io = !input.without_direct_io.contains(disk.path);
    const std::string cache = cache_of(disk, has_direct_io, boot_order != 0);
    if ((cache == "none" || cache == "directsync") && !disk.path.empty() && !has_direct_io) {
        return fail(
            ErrorKind::invalid,
            "disk \"" + disk.spec.name + "\": its storage has no direct I/O, which cache \"" + cache +
                "\" needs: use writethrough or writeback"
        );
    }
    if (disk.spec.shareable.value_or(false) && cache != "none") {
        return fail(
            ErrorKind::invalid,
            "disk \"" + disk.spec.name + "\" is shareable, which cache \"" + cache + "\" does not allow: use none"
        );
    }
    if (disk.spec.lun && disk.spec.lun->reservation) {
        return fail(
            ErrorKind::invalid,
            "disk \"" + disk.spec.name +
                "\": lun.reservation needs the helper of persistent reservations, which no node here runs: leave it out"
        );
    }
    Element out{"disk"};
    out.set("type", disk.block ? "block" : "file").set("device", disk.device);
    Element& driver = out.add(
        "driver",
        {
            {"name", "qemu"     },
            {"type", disk.format}
    }
    );
    if (!disk.path.empty()) driver.set("cache", cache).set("io", io_of(disk, cache));
    driver.set("error_policy", disk.spec.error_policy.empty() ? "stop" : disk.spec.error_policy);
    if (!disk.read_only && !disk.preallocated) driver.set("discard", "unmap");
    if (!disk.path.empty())
        out.add(
            "source",
            {
                {disk.block ? "dev" : "file", disk.path}
        }
        );
    out.add(
        "target",
        {
            {"dev", disk.target},
            {"bus", disk.bus   }
    }
    );
    if (disk.device == "disk" && !disk.spec.serial.empty()) out.add("serial", {}, disk.spec.serial);
    if (boot_order != 0)
        out.add(
            "boot",
            {
                {"order", std::to_string(boot_order)}
        }
        );
    out.add(
        "alias",
        {
            {"name", "ua-" + disk.spec.name}
    }
    );
    if (disk.read_only) out.add("readonly");
    if (disk.spec.shareable.value_or(false)) out.add("shareable");
    if (disk.bus == "virtio" && disk.spec.disk && !disk.spec.disk->pci_address.empty())
        add_pci_address(out, disk.spec.disk->pci_address);
    // Without an address libvirt puts every seventh disk onto a controller of its own, which costs a root port.
    if (disk.bus == "scsi") {
        out.add(
            "address",
            {
                {"type",       "drive"                  },
                {"controller", "0"                      },
                {"bus",        "0"                      },
                {"target",     "0"                      },
                {"unit",       std::to_string(disk.unit)}
        }
        );
    }
    return out;
}

Result<Element> devices_element(const DomainInput& input) {
    const std::vector<Interface> interfaces = interfaces_of(input.vmi);
    const std::vector<std::int64_t> orders = boot_orders(input.disks, interfaces);
    const api::Devices& wanted = input.vmi.spec.domain.devices;
    Element out{"devices"};
    out.add("emulator", {}, std::string(kEmulator));
    for (std::size_t i = 0; i < input.disks.size(); ++i) {
        Result<Element> disk = disk_element(input.disks[i], input, orders[i]);
        if (!disk && input.disks[i].is_plugged()) continue;  // says so when the guest runs; it holds up nobody
        if (!disk) return std::unexpected(std::move(disk).error());
        out.add(*std::move(disk));
    }
    add_controllers(out, input, interfaces.size());
    for (const Interface& one : interfaces) add_interface(out, one);
    if (wanted.autoattach_serial_console.value_or(true)) add_serial(out);
    if (wanted.rng.is_object())
        out.add(
               "rng",
               {
                   {"model", "virtio"}
        }
        )
            .add("backend", {{"model", "random"}}, "/dev/urandom");
    out.add(
        "memballoon",
        {
            {"model", wanted.autoattach_mem_balloon.value_or(false) ? "virtio" : "none"}
    }
    );
    return out;
}

}  // namespace berth::launcher
