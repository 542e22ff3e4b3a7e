// The libvirt domain of a machine, as text. Everything that is decided about the virtual hardware is decided here.
// Source: https://libvirt.org/formatdomain.html (9.0)
#pragma once

#include <set>
#include <string>

#include "launcher/plan/accelerator.hpp"
#include "launcher/plan/disks.hpp"
#include "launcher/plan/xml.hpp"

namespace berth::launcher {

inline constexpr std::string_view kSerialSocket = "/run/berth/serial0";
inline constexpr std::string_view kSerialLog = "/run/berth/serial0.log";

struct DomainInput {
    api::VirtualMachineInstance vmi;
    std::vector<MachineDisk> disks;
    std::set<std::string> without_direct_io;  ///< paths whose file system refuses O_DIRECT
    Accelerator accelerator = Accelerator::tcg;
};

/// "default_web".
std::string domain_name(const std::string& ns, const std::string& name);

/// Errors  invalid: the machine has no memory, or a disk asks for what its storage cannot give
Result<std::string> domain_xml(const DomainInput& input);

/// One disk, for the domain and for attaching. `boot_order` 0: none.
Result<Element> disk_element(const MachineDisk& disk, const DomainInput& input, std::int64_t boot_order);

/// Everything inside <devices>.
Result<Element> devices_element(const DomainInput& input);

/// Memory the guest sees. 0: not said anywhere.
Bytes guest_memory(const api::Domain& domain);
std::int64_t vcpu_count(const api::Domain& domain);

}  // namespace berth::launcher
