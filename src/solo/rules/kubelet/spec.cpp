// From a pod's container to what the runtime is asked to start.
#include "base/base64.hpp"
#include "solo/rules/kubelet/facts.hpp"

namespace berth::solo::kubelet {
namespace {

std::optional<std::string> field_of(const View& view, std::string_view path) {
    const api::ObjectMeta& meta = view.pod->metadata;
    if (path == "metadata.name") return meta.name;
    if (path == "metadata.namespace") return meta.ns;
    if (path == "metadata.uid") return meta.uid.value;
    if (path == "spec.nodeName") return view.pod->spec.node_name;
    if (path == "spec.serviceAccountName") return view.pod->spec.service_account_name;
    if (path == "status.podIP" || path == "status.hostIP") return view.node_address;
    for (const auto& [prefix, map] : {std::pair{"metadata.annotations['", &meta.annotations}, std::pair{"metadata.labels['", &meta.labels}}) {
        if (!path.starts_with(prefix) || !path.ends_with("']")) continue;
        const auto it = map->find(std::string(path.substr(std::string_view(prefix).size(), path.size() - std::string_view(prefix).size() - 2)));
        return it == map->end() ? std::string() : it->second;
    }
    return {};
}

// The value of an `env` entry; none: an optional reference to what is not there.
Result<std::optional<std::string>> env_value(const View& view, const api::EnvVar& env) {
    if (env.value_from.is_null()) return env.value;
    if (const json::Value* field = json::find(env.value_from, "/fieldRef/fieldPath")) {
        if (field->is_string()) {
            if (auto value = field_of(view, std::string_view(field->get_string()))) return value;
        }
        return fail(ErrorKind::invalid, "env " + env.name + ": the field path is not supported");
    }
    for (const bool is_secret : {true, false}) {
        const std::string base = is_secret ? "/secretKeyRef" : "/configMapKeyRef";
        if (json::find(env.value_from, base) == nullptr) continue;
        const std::string name(json::text_at(env.value_from, base + "/name"));
        const std::string key(json::text_at(env.value_from, base + "/key"));
        std::optional<std::string> value;
        if (is_secret) {
            const auto secret = view.secrets.find(name);
            if (secret != view.secrets.end() && secret->second.data.contains(key)) value = decode_base64(secret->second.data.at(key));
        } else {
            const auto map = view.config_maps.find(name);
            if (map != view.config_maps.end() && map->second.data.contains(key)) value = map->second.data.at(key);
        }
        if (value || json::bool_at(env.value_from, base + "/optional")) return value;
        return fail(ErrorKind::invalid, "env " + env.name + ": there is no key \"" + key + "\" in " + (is_secret ? "secret" : "configmap") + " \"" + name + "\"");
    }
    return fail(ErrorKind::invalid, "env " + env.name + ": valueFrom is not supported in this form");
}

const api::PodVolume* volume_named(const api::Pod& pod, const std::string& name) {
    const auto it = std::ranges::find(pod.spec.volumes, name, &api::PodVolume::name);
    return it == pod.spec.volumes.end() ? nullptr : &*it;
}

Result<void> add_volumes(const View& view, const api::Container& container, ContainerSpec& out) {
    for (const api::VolumeMount& mount : container.volume_mounts) {
        const auto prepared = view.prepared.find(mount.name);
        if (prepared == view.prepared.end()) return fail(ErrorKind::not_found, "volume \"" + mount.name + "\" is not prepared");
        const api::PodVolume* volume = volume_named(*view.pod, mount.name);
        const bool is_read_only = mount.read_only || (volume != nullptr && volume->persistent_volume_claim && volume->persistent_volume_claim->read_only);
        out.mounts.push_back({prepared->second, mount.mount_path, is_read_only, mount.mount_propagation == "HostToContainer", mount.sub_path});
    }
    for (const api::VolumeDevice& device : container.volume_devices) {
        const auto prepared = view.prepared.find(device.name);
        if (prepared == view.prepared.end()) return fail(ErrorKind::not_found, "volume \"" + device.name + "\" is not prepared");
        const api::PodVolume* volume = volume_named(*view.pod, device.name);
        const bool is_read_only = volume != nullptr && volume->persistent_volume_claim && volume->persistent_volume_claim->read_only;
        out.devices.push_back({prepared->second, device.device_path, is_read_only});
    }
    return {};
}

std::int64_t identity(const View& view, const api::Container& container, std::string_view field) {
    const std::string pointer = "/" + std::string(field);
    if (const auto own = json::integer_at(container.security_context, pointer)) return *own;
    return json::integer_at(view.pod->spec.security_context, pointer).value_or(0);
}

}  // namespace

Result<ContainerSpec> container_spec(const View& view, const api::Container& container, std::int64_t attempt) {
    ContainerSpec out;
    out.pod_uid = view.uid;
    out.pod_name = view.key.name;
    out.pod_ns = view.key.ns;
    out.name = container.name;
    out.attempt = attempt;
    out.image = container.image;
    out.argv = container.command;
    out.argv.insert(out.argv.end(), container.args.begin(), container.args.end());
    for (const api::EnvVar& env : container.env) {
        TRY(const std::optional<std::string> value, env_value(view, env));
        if (value) out.env.emplace_back(env.name, *value);
    }
    out.working_dir = container.working_dir;
    out.hostname = view.pod->spec.hostname.empty() ? view.key.name.substr(0, 63) : view.pod->spec.hostname;
    out.uid = identity(view, container, "runAsUser");
    out.gid = identity(view, container, "runAsGroup");
    out.fs_group = fs_group(*view.pod);
    out.privileged = json::bool_at(container.security_context, "/privileged");
    if (const json::Value* added = json::find(container.security_context, "/capabilities/add"); added != nullptr && added->is_array()) {
        for (const json::Value& name : added->get_array()) {
            if (name.is_string()) out.capabilities.emplace_back(std::string_view(name.get_string()));
        }
    }
    const auto limit = [&](const char* resource) {
        const auto it = container.resources.limits.find(resource);
        return it == container.resources.limits.end() ? Quantity{} : it->second;
    };
    out.memory_limit = bytes_or_zero(limit("memory"));
    out.cpu_limit = milli_cpu_or_zero(limit("cpu"));
    const auto request = container.resources.requests.find("cpu");
    if (request != container.resources.requests.end()) out.cpu_request = milli_cpu_or_zero(request->second);
    out.termination_message_path = container.termination_message_path.empty() ? "/dev/termination-log" : container.termination_message_path;
    out.message_from_log = container.termination_message_policy == "FallbackToLogsOnError";
    TRY_DO(add_volumes(view, container, out));
    return out;
}

}  // namespace berth::solo::kubelet
