// The config.json of a container, as a pure function of what the kubelet wants and what was found on the machine.
// Source: https://github.com/opencontainers/runtime-spec/blob/v1.0.2/config.md
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.hpp"
#include "solo/runtime.hpp"

namespace berth::solo {

/// Names under which containers find the berth program in /usr/bin; it acts by the name it was called with.
inline constexpr std::array<std::string_view, 7> kProgramNames = {
    "berth",
    "virt-launcher-monitor",
    "virt-launcher",
    "container-disk",
    "virt-cdi-importer",
    "virt-cdi-cloner",
    "virt-cdi-uploadserver",
};

/// Below /usr: where a launcher looks for what earlier ones found out about QEMU.
inline constexpr std::string_view kCapabilitiesInUsr = "/share/berth/capabilities";

/// What a container's root file system is made of.
enum class Userland {
    host_usr,  ///< the machine's /usr, read-only, with an /etc of our own and nothing else of the machine
    own,       ///< the image's tree, writable until the container ends
};

struct Image {
    std::string reference;
    std::string id;  ///< "sha256:…" of its manifest, or the reference of a built-in one
    Userland userland = Userland::host_usr;
    std::string tree;                      ///< where its layers lie unpacked; "" for built-in ones
    bool is_disk = false;                  ///< a containerDisk: has /disk and no program
    std::vector<std::string> entry_point;  ///< Entrypoint and Cmd
    std::vector<std::string> env;          ///< "NAME=value"
    std::string working_dir;
    bool operator==(const Image&) const = default;
};

/// A device of the container as the machine has it.
struct DeviceNode {
    std::string container_path;
    char type = 'b';  ///< 'b' or 'c'
    std::int64_t major = 0;
    std::int64_t minor = 0;
    bool read_only = false;
};

/// What the machine says, beside the wish.
struct Bundle {
    Image image;
    std::string program;           ///< the berth program, readable by all; "" = none
    std::string termination_file;  ///< bound over the container's termination message path
    std::string etc_dir;           ///< hosts, hostname and resolv.conf for an image with its own userland
    std::string capability_seed;   ///< bound at /usr/share/berth/capabilities of a VM pod; "" = none
    std::string accelerator;       ///< "kvm", "tcg": what a VM pod is told; "" = it looks itself
    std::string cgroup;            ///< "/berth-x2vq1/<pod>/<name>"
    std::vector<DeviceNode> devices;
    std::int64_t open_files_max = 1024;           ///< our own hard limit: nobody without CAP_SYS_RESOURCE gets more
    std::vector<std::string> known_capabilities;  ///< "CAP_…" that we may hand out
};

/// Whether the container runs a guest: its process 1 is the launcher's monitor.
bool is_vm_pod(const ContainerSpec& spec);

/// The whole config.json; root.path is "rootfs".
json::Value oci_spec(const ContainerSpec& spec, const Bundle& bundle);

}  // namespace berth::solo
