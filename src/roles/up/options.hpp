// What `berth up` can be told, and what the machine says where it is not told.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/text.hpp"
#include "launcher/plan/accelerator.hpp"

namespace berth::roles {

struct UpOptions {
    std::string data_dir = "/var/lib/berth";
    int nodes = 1;  ///< 1..16
    std::string address = "127.0.0.1";
    std::uint16_t port = 6443;         ///< 0 = any free one
    std::string accelerator = "auto";  ///< auto, kvm, tcg
    std::optional<MilliCpu> node_cpu;  ///< of each node; none: the machine's share
    std::optional<Bytes> node_memory;
    std::optional<Bytes> node_storage;
    std::string guest_archive;    ///< behind the image berth.local/guest; "" = guest/guest.oci.tar beside the program
    bool has_controllers = true;  ///< of machines and DataVolumes; false: a `berth controller` runs them
    bool is_verbose = false;
};

/// Reads "127.0.0.1:6443", "[::1]:0" or ":6443" into address and port. Errors  invalid
Result<void> read_listen(const std::string& text, UpOptions& options);

struct MachineSize {
    MilliCpu cpu;
    Bytes memory;
    Bytes storage;  ///< free space of the data directory's file system
};
MachineSize machine_size(const std::string& data_dir);

/// What guests of this machine run on; `wish`: auto, kvm, tcg.
launcher::AcceleratorChoice accelerator_here(const std::string& wish);

}  // namespace berth::roles
