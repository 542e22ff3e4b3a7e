// From a pod's volume to what the node is asked to make. What is not there yet is an error that says so (K-94).
#include "base/base64.hpp"
#include "solo/rules/kubelet/facts.hpp"
#include "solo/rules/storage/matching.hpp"

namespace berth::solo::kubelet {
namespace {

using Files = std::map<std::string, std::string>;

// The keys a volume shows, under the names it gives them.
Result<Files> chosen(const Files& all, const std::vector<api::KeyToPath>& items, bool optional) {
    if (items.empty()) return all;
    Files out;
    for (const api::KeyToPath& item : items) {
        const auto it = all.find(item.key);
        if (it != all.end()) {
            out[item.path] = it->second;
        } else if (!optional) {
            return fail(ErrorKind::not_found, "references non-existent key: " + item.key);
        }
    }
    return out;
}

Result<Files> config_map_files(
    const View& view, const std::string& name, const std::vector<api::KeyToPath>& items, bool optional
) {
    const auto it = view.config_maps.find(name);
    if (it == view.config_maps.end()) {
        if (optional) return Files();
        return fail(ErrorKind::not_found, "configmap \"" + name + "\" not found");
    }
    Files all = it->second.data;
    for (const auto& [key, value] : it->second.binary_data) all[key] = decode_base64(value);
    return chosen(all, items, optional);
}

Result<Files> secret_files(
    const View& view, const std::string& name, const std::vector<api::KeyToPath>& items, bool optional
) {
    const auto it = view.secrets.find(name);
    if (it == view.secrets.end()) {
        if (optional) return Files();
        return fail(ErrorKind::not_found, "secret \"" + name + "\" not found");
    }
    Files all;
    for (const auto& [key, value] : it->second.data) all[key] = decode_base64(value);
    return chosen(all, items, optional);
}

Result<Files> downward_files(const View& view, const json::Value& source) {
    Files out;
    const json::Value* items = json::find(source, "/items");
    if (items == nullptr || !items->is_array()) return out;
    for (const json::Value& item : items->get_array()) {
        const std::string path(json::text_at(item, "/path"));
        const std::string field(json::text_at(item, "/fieldRef/fieldPath"));
        const auto value = field_value(view, field);
        if (!value)
            return fail(
                ErrorKind::invalid, "file \"" + path + "\": only some fields are supported, not \"" + field + "\""
            );
        out[path] = *value;
    }
    return out;
}

std::vector<api::KeyToPath> items_of(const json::Value& source) {
    std::vector<api::KeyToPath> out;
    const json::Value* items = json::find(source, "/items");
    if (items == nullptr || !items->is_array()) return out;
    for (const json::Value& item : items->get_array()) {
        out.push_back({std::string(json::text_at(item, "/key")), std::string(json::text_at(item, "/path")), {}});
    }
    return out;
}

Result<Files> projected_files(const View& view, const json::Value& projected) {
    Files out;
    const json::Value* sources = json::find(projected, "/sources");
    if (sources == nullptr || !sources->is_array()) return out;
    for (const json::Value& source : sources->get_array()) {
        Result<Files> part = Files();
        if (const json::Value* map = json::find(source, "/configMap")) {
            part = config_map_files(
                view, std::string(json::text_at(*map, "/name")), items_of(*map), json::bool_at(*map, "/optional")
            );
        } else if (const json::Value* secret = json::find(source, "/secret")) {
            part = secret_files(
                view,
                std::string(json::text_at(*secret, "/name")),
                items_of(*secret),
                json::bool_at(*secret, "/optional")
            );
        } else if (const json::Value* fields = json::find(source, "/downwardAPI")) {
            part = downward_files(view, *fields);
        } else {
            return fail(
                ErrorKind::invalid,
                "service account tokens and trust bundles are not served: set automountServiceAccountToken to false"
            );
        }
        TRY(Files more, std::move(part));
        out.merge(more);
    }
    return out;
}

Result<VolumeRequest> files(const View& view, Result<Files> content, std::optional<std::int64_t> mode) {
    TRY(Files made, std::move(content));
    VolumeRequest out;
    out.kind = VolumeRequest::Kind::files;
    out.group = fs_group(*view.pod);
    out.files = std::move(made);
    out.mode = mode.value_or(0644);
    return out;
}

Result<VolumeRequest> path(std::string where, std::string type, std::optional<std::int64_t> group) {
    VolumeRequest out;
    out.kind = VolumeRequest::Kind::path;
    out.path = std::move(where);
    out.type = std::move(type);
    out.group = group;
    return out;
}

bool propagates(const View& view, const std::string& volume) {
    return std::ranges::any_of(view.pod->spec.containers, [&](const api::Container& container) {
        return std::ranges::any_of(container.volume_mounts, [&](const api::VolumeMount& mount) {
            return mount.name == volume &&
                   (mount.mount_propagation == "HostToContainer" || mount.mount_propagation == "Bidirectional");
        });
    });
}

Result<VolumeRequest> claimed(const View& view, const std::string& name) {
    const auto claim = view.claims.find(name);
    if (claim == view.claims.end())
        return fail(ErrorKind::not_found, "persistentvolumeclaim \"" + name + "\" not found");
    if (claim->second.metadata.is_deleting())
        return fail(ErrorKind::unavailable, "persistentvolumeclaim \"" + name + "\" is being deleted");
    if (claim->second.status.phase != "Bound")
        return fail(ErrorKind::unavailable, "persistentvolumeclaim \"" + name + "\" is not bound yet");
    const auto found = view.volumes.find(claim->second.spec.volume_name);
    if (found == view.volumes.end())
        return fail(ErrorKind::not_found, "persistentvolume \"" + claim->second.spec.volume_name + "\" not found");
    const api::PersistentVolume& volume = found->second;
    if (!volume.spec.claim_ref || volume.spec.claim_ref->uid != claim->second.metadata.uid) {
        return fail(
            ErrorKind::unavailable, "persistentvolume \"" + volume.metadata.name + "\" is bound to another claim"
        );
    }
    // A pod that names its node itself has been past no scheduler.
    if (view.node && !reaches(volume, *view.node)) {
        return fail(
            ErrorKind::invalid,
            "persistentvolume \"" + volume.metadata.name +
                "\" lies on another node: leave spec.nodeName to the scheduler"
        );
    }
    const bool is_block = volume.spec.volume_mode == "Block";
    const auto group = fs_group(*view.pod);
    if (volume.spec.local) return path(volume.spec.local->path, is_block ? "BlockDevice" : "Directory", group);
    if (volume.spec.host_path) return path(volume.spec.host_path->path, volume.spec.host_path->type, group);
    return fail(
        ErrorKind::invalid,
        "persistentvolume \"" + volume.metadata.name + "\" is neither local nor hostPath: this node cannot mount it"
    );
}

}  // namespace

Result<VolumeRequest> volume_request(const View& view, const api::PodVolume& volume) {
    if (volume.persistent_volume_claim) return claimed(view, volume.persistent_volume_claim->claim_name);
    if (volume.host_path) return path(volume.host_path->path, volume.host_path->type, {});
    if (volume.config_map) {
        const api::ConfigMapVolumeSource& source = *volume.config_map;
        return files(view, config_map_files(view, source.name, source.items, source.optional), source.default_mode);
    }
    if (volume.secret) {
        const api::SecretVolumeSource& source = *volume.secret;
        return files(view, secret_files(view, source.secret_name, source.items, source.optional), source.default_mode);
    }
    if (volume.downward_api.is_object()) {
        return files(
            view, downward_files(view, volume.downward_api), json::integer_at(volume.downward_api, "/defaultMode")
        );
    }
    if (volume.projected.is_object()) {
        return files(view, projected_files(view, volume.projected), json::integer_at(volume.projected, "/defaultMode"));
    }
    if (volume.empty_dir) {
        VolumeRequest out;
        out.group = fs_group(*view.pod);
        out.in_memory = volume.empty_dir->medium == "Memory";
        out.propagates = propagates(view, volume.name);
        return out;
    }
    return fail(
        ErrorKind::invalid,
        "a volume of this kind is not supported: use a claim, emptyDir, hostPath, configMap, secret, downwardAPI or "
        "projected"
    );
}

}  // namespace berth::solo::kubelet
