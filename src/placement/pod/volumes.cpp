#include "placement/pod/volumes.hpp"

#include "base/ranges.hpp"
#include "placement/pod/resources.hpp"

namespace berth::placement {
namespace {

struct EmptyDir {
    const char* name;
    const char* mount_path;  ///< in compute; "" = not mounted there
    const char* propagation;
};

// What the processes around a guest write to (L-25). Node-side mounts appear in the last two while the pod runs.
constexpr EmptyDir kEmptyDirs[] = {
    {"private",            kPrivateDir,                 ""               },
    {"public",             "/var/run/kubevirt",         ""               },
    {"sockets",            "/var/run/kubevirt/sockets", ""               },
    {"virt-bin-share-dir", "",                          ""               },
    {"libvirt-runtime",    "/var/run/libvirt",          ""               },
    {"ephemeral-disks",    kEphemeralDiskDir,           ""               },
    {"container-disks",    kContainerDiskDir,           "HostToContainer"},
    {"hotplug-disks",      kHotplugDir,                 "HostToContainer"},
};

void add_empty_dir(PodVolumes& out, const EmptyDir& dir) {
    api::PodVolume volume{.name = dir.name};
    volume.empty_dir.emplace();
    out.volumes.push_back(std::move(volume));
    if (*dir.mount_path == '\0') return;
    out.mounts.push_back({.name = dir.name, .mount_path = dir.mount_path, .mount_propagation = dir.propagation});
}

Result<void> add_claim(PodVolumes& out, const RenderInput& input, const api::VmVolume& source, bool read_only) {
    const std::string name = source.claim_name();
    const api::PersistentVolumeClaim* claim = find_claim(input.claims, name);
    if (claim == nullptr) return fail(ErrorKind::not_found, "didn't find PVC " + name);
    api::PodVolume volume{.name = source.name};
    volume.persistent_volume_claim = api::ClaimVolumeSource{.claim_name = name, .read_only = read_only};
    out.volumes.push_back(std::move(volume));
    if (claim->spec.is_block()) {
        out.devices.push_back({.name = source.name, .device_path = "/dev/" + source.name});
        return {};
    }
    const std::string path = std::string(kPrivateDir) + "/vmi-disks/" + source.name;
    out.mounts.push_back({.name = source.name, .mount_path = path});
    if (contains(claim->spec.access_modes, std::string("ReadWriteMany"))) out.shared_paths.push_back(path);
    return {};
}

void add_host_disk(PodVolumes& out, const api::VmVolume& source) {
    const std::string& path = source.host_disk->path;
    api::PodVolume volume{.name = source.name};
    volume.host_path = api::HostPathSource{.path = path.substr(0, path.rfind('/')), .type = "DirectoryOrCreate"};
    out.volumes.push_back(std::move(volume));
    out.mounts.push_back({.name = source.name, .mount_path = std::string(kPrivateDir) + "/vmi-disks/" + source.name});
}

void add_secret(PodVolumes& out, std::string name, std::string secret, bool optional) {
    api::PodVolume volume{.name = name};
    volume.secret = api::SecretVolumeSource{
        .secret_name = std::move(secret), .items = {}, .default_mode = {}, .optional = optional
    };
    out.volumes.push_back(std::move(volume));
    std::string path = std::string(kPrivateDir) + "/secret/" + name;
    out.mounts.push_back({.name = std::move(name), .mount_path = std::move(path), .read_only = true});
}

void add_config_map(PodVolumes& out, const api::VmVolume& source) {
    api::PodVolume volume{.name = source.name};
    volume.config_map.emplace();
    volume.config_map->name = json::text_at(source.config_map, "/name");
    volume.config_map->optional = json::bool_at(source.config_map, "/optional");
    out.volumes.push_back(std::move(volume));
    out.mounts.push_back(
        {.name = source.name, .mount_path = std::string(kPrivateDir) + "/config-map/" + source.name, .read_only = true}
    );
}

// User and network data kept in secrets; inline data travels in the machine's spec.
void add_cloud_init(PodVolumes& out, const std::string& name, const api::CloudInitSource& source) {
    const std::string_view user = json::text_at(source.secret_ref, "/name");
    const std::string_view network = json::text_at(source.network_data_secret_ref, "/name");
    if (!user.empty()) add_secret(out, name + "-udata", std::string(user), false);
    if (!network.empty()) add_secret(out, name + "-ndata", std::string(network), false);
}

void add_other(PodVolumes& out, const api::VmVolume& source) {
    if (source.host_disk) add_host_disk(out, source);
    if (source.cloud_init_no_cloud) add_cloud_init(out, source.name, *source.cloud_init_no_cloud);
    if (source.cloud_init_config_drive) add_cloud_init(out, source.name, *source.cloud_init_config_drive);
    if (!source.config_map.is_null()) add_config_map(out, source);
    if (!source.secret.is_null()) {
        add_secret(
            out,
            source.name,
            std::string(json::text_at(source.secret, "/secretName")),
            json::bool_at(source.secret, "/optional")
        );
    }
    if (!source.service_account.is_null())
        out.service_account = json::text_at(source.service_account, "/serviceAccountName");
}

void add_backend(PodVolumes& out, const api::PersistentVolumeClaim& claim) {
    api::PodVolume volume{.name = "vm-state"};
    volume.persistent_volume_claim = api::ClaimVolumeSource{.claim_name = claim.metadata.name, .read_only = false};
    out.volumes.push_back(std::move(volume));
    for (const auto& [path, sub_path] : std::initializer_list<std::pair<const char*, const char*>>{
             {"/var/lib/libvirt/qemu/nvram", "nvram"},
             {"/var/lib/libvirt/swtpm",      "swtpm"}
    }) {
        out.mounts.push_back({.name = "vm-state", .mount_path = path, .sub_path = sub_path});
    }
}

}  // namespace

const api::PersistentVolumeClaim* find_claim(
    const std::vector<const api::PersistentVolumeClaim*>& claims, std::string_view name
) {
    const auto it = std::ranges::find_if(claims, [&](const auto* claim) { return claim->metadata.name == name; });
    return it == claims.end() ? nullptr : *it;
}

bool is_mounted(const api::VirtualMachineInstance& vmi, const api::VmVolume& volume) {
    if (volume.is_hotpluggable() || volume.memory_dump) return false;
    const auto it = std::ranges::find(vmi.status.volume_status, volume.name, &api::VmVolumeStatus::name);
    return it == vmi.status.volume_status.end() || !it->hotplug_volume;
}

Result<PodVolumes> volumes_for(const RenderInput& input) {
    PodVolumes out;
    for (const EmptyDir& dir : kEmptyDirs) add_empty_dir(out, dir);
    for (const api::VmVolume& volume : input.vmi.spec.volumes) {
        if (volume.claim_name().empty()) {
            add_other(out, volume);
        } else if (is_mounted(input.vmi, volume)) {
            const bool read_only = (volume.persistent_volume_claim && volume.persistent_volume_claim->read_only) ||
                                   (volume.ephemeral && volume.ephemeral->persistent_volume_claim->read_only);
            TRY_DO(add_claim(out, input, volume, read_only));
        }
    }
    if (input.backend != nullptr) add_backend(out, *input.backend);
    return out;
}

// The helper's image is the disk's image, with our /usr/bin/container-disk bound in. Its contract: copy the image in
// /disk (or at --image-path) to --target, sparse, by a temporary name and a rename; write nothing else; then sleep
// until TERM. The launcher takes the target as the backing file of an overlay, so the disk starts afresh with each pod.
std::vector<api::Container> container_disks_for(const RenderInput& input) {
    std::vector<api::Container> out;
    for (const api::VmVolume& volume : input.vmi.spec.volumes) {
        if (!volume.container_disk) continue;
        const std::string dir = kContainerDiskDir;
        api::Container helper;
        helper.name = "volume" + volume.name;
        helper.image = volume.container_disk->image;
        helper.image_pull_policy = volume.container_disk->image_pull_policy;
        helper.command = {"/usr/bin/container-disk"};
        helper.args = {
            "--copy-path", dir + "/disk_" + std::to_string(out.size()), "--target", dir + "/" + volume.name + ".img"
        };
        if (!volume.container_disk->path.empty()) {
            helper.args.push_back("--image-path");
            helper.args.push_back(volume.container_disk->path);
        }
        helper.resources = helper_resources("container-disk", input.config);
        helper.volume_mounts = {
            {.name = "container-disks", .mount_path = dir}
        };
        if (!input.config.runs_as_root) {
            helper.security_context = json::Object{
                {"runAsUser",                107                                       },
                {"runAsNonRoot",             true                                      },
                {"allowPrivilegeEscalation", false                                     },
                {"capabilities",             json::Object{{"drop", json::Array{"ALL"}}}},
            };
        }
        out.push_back(std::move(helper));
    }
    return out;
}

}  // namespace berth::placement
