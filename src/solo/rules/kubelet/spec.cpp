// From a pod's container to what the runtime is asked to start.
#include "base/base64.hpp"
#include "base/ranges.hpp"
#include "solo/rules/kubelet/facts.hpp"

namespace berth::solo::kubelet {
namespace {

// The value of an `env` entry; none: an optional reference to what is not there.
Result<std::optional<std::string>> env_value(const View& view, const api::EnvVar& env) {
    if (env.value_from.is_null()) return env.value;
    if (json::find(env.value_from, "/fieldRef") != nullptr) {
        if (auto value = field_value(view, json::text_at(env.value_from, "/fieldRef/fieldPath"))) return value;
        return fail(ErrorKind::invalid, "env " + env.name + ": this field path is not supported");
    }
    for (const bool is_secret : {true, false}) {
        const std::string base = is_secret ? "/secretKeyRef" : "/configMapKeyRef";
        if (json::find(env.value_from, base) == nullptr) continue;
        const std::string name(json::text_at(env.value_from, base + "/name"));
        const std::string key(json::text_at(env.value_from, base + "/key"));
        std::optional<std::string> value;
        if (is_secret) {
            const auto secret = view.secrets.find(name);
            const bool has_key = secret != view.secrets.end() && secret->second.data.contains(key);
            if (has_key) value = decode_base64(secret->second.data.at(key));
        } else {
            const auto map = view.config_maps.find(name);
            if (map != view.config_maps.end() && map->second.data.contains(key)) value = map->second.data.at(key);
        }
        if (value || json::bool_at(env.value_from, base + "/optional")) return value;
        const std::string kind = is_secret ? "secret" : "configmap";
        const bool is_there = is_secret ? view.secrets.contains(name) : view.config_maps.contains(name);
        if (!is_there) {
            return fail(
                ErrorKind::invalid,
                kind + " \"" + name + "\" not found: create it, with the key \"" + key + "\" for env " + env.name
            );
        }
        return fail(
            ErrorKind::invalid, "env " + env.name + ": there is no key \"" + key + "\" in " + kind + " \"" + name + "\""
        );
    }
    return fail(ErrorKind::invalid, "env " + env.name + ": valueFrom is not supported in this form");
}

using Env = std::vector<std::pair<std::string, std::string>>;

// "$(NAME)" becomes the value of an earlier variable; "$$" is a dollar; what is not known stays as it is.
// Source: https://kubernetes.io/docs/tasks/inject-data-application/define-interdependent-environment-variables/
std::string expand(std::string_view text, const Env& env) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '$' || i + 1 == text.size()) {
            out += text[i];
        } else if (text[i + 1] == '$') {
            out += '$';
            ++i;
        } else if (const std::size_t end = text[i + 1] == '(' ? text.find(')', i) : std::string_view::npos;
                   end != std::string_view::npos) {
            const std::string_view name = text.substr(i + 2, end - i - 2);
            const auto it = std::ranges::find_if(env, [&](const auto& pair) { return pair.first == name; });
            out += it == env.end() ? std::string(text.substr(i, end - i + 1)) : it->second;
            i = end;
        } else {
            out += '$';
        }
    }
    return out;
}

Result<Env> environment(const View& view, const api::Container& container) {
    Env out;
    for (const api::EnvVar& env : container.env) {
        TRY(const std::optional<std::string> value, env_value(view, env));
        if (!value) continue;
        std::string text = env.value_from.is_null() ? expand(*value, out) : *value;
        std::erase_if(out, [&](const auto& pair) { return pair.first == env.name; });
        out.emplace_back(env.name, std::move(text));
    }
    return out;
}

const api::PodVolume* volume_named(const api::Pod& pod, const std::string& name) {
    const auto it = std::ranges::find(pod.spec.volumes, name, &api::PodVolume::name);
    return it == pod.spec.volumes.end() ? nullptr : &*it;
}

bool is_read_only(const View& view, const std::string& volume) {
    const api::PodVolume* found = volume_named(*view.pod, volume);
    return found != nullptr && found->persistent_volume_claim && found->persistent_volume_claim->read_only;
}

Result<void> add_volumes(const View& view, const api::Container& container, ContainerSpec& out) {
    for (const api::VolumeMount& mount : container.volume_mounts) {
        const auto prepared = view.prepared.find(mount.name);
        if (prepared == view.prepared.end())
            return fail(ErrorKind::not_found, "volume \"" + mount.name + "\" is not prepared");
        const bool follows_host =
            mount.mount_propagation == "HostToContainer" || mount.mount_propagation == "Bidirectional";
        const bool read_only = mount.read_only || is_read_only(view, mount.name);
        out.mounts.push_back({prepared->second, mount.mount_path, read_only, follows_host, mount.sub_path});
    }
    for (const api::VolumeDevice& device : container.volume_devices) {
        const auto prepared = view.prepared.find(device.name);
        if (prepared == view.prepared.end())
            return fail(ErrorKind::not_found, "volume \"" + device.name + "\" is not prepared");
        out.devices.push_back({prepared->second, device.device_path, is_read_only(view, device.name)});
    }
    return {};
}

// What device plugins of a cluster's nodes hand out: a limit of one brings the device.
void add_machine_devices(const api::Container& container, ContainerSpec& out) {
    constexpr std::pair<const char*, const char*> kDevices[] = {
        {"devices.kubevirt.io/kvm",       "/dev/kvm"      },
        {"devices.kubevirt.io/tun",       "/dev/net/tun"  },
        {"devices.kubevirt.io/vhost-net", "/dev/vhost-net"},
    };
    for (const auto& [resource, path] : kDevices) {
        if (container.resources.limits.contains(resource)) out.devices.push_back({path, path, false});
    }
}

std::int64_t identity(const View& view, const api::Container& container, std::string_view field) {
    const std::string pointer = "/" + std::string(field);
    if (const auto own = json::integer_at(container.security_context, pointer)) return *own;
    return json::integer_at(view.pod->spec.security_context, pointer).value_or(0);
}

std::vector<std::string> names_at(const json::Value& value, std::string_view pointer) {
    std::vector<std::string> out;
    const json::Value* list = json::find(value, pointer);
    if (list == nullptr || !list->is_array()) return out;
    for (const json::Value& name : list->get_array()) {
        if (!name.is_string()) continue;
        std::string text(std::string_view(name.get_string()));
        if (text.starts_with("CAP_")) text.erase(0, 4);
        out.push_back(std::move(text));
    }
    return out;
}

// Root gets what container runtimes give by default, but nothing that reaches the host's network.
std::vector<std::string> capabilities(const api::Container& container, std::int64_t uid) {
    static const std::vector<std::string> kOfRoot = {
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "NET_BIND_SERVICE",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT"
    };
    const std::vector<std::string> dropped = names_at(container.security_context, "/capabilities/drop");
    std::vector<std::string> out = uid == 0 && !contains(dropped, "ALL") ? kOfRoot : std::vector<std::string>();
    std::erase_if(out, [&](const std::string& name) { return contains(dropped, name); });
    for (std::string& name : names_at(container.security_context, "/capabilities/add")) {
        if (!contains(out, name)) out.push_back(std::move(name));
    }
    return out;
}

void add_resources(const api::Container& container, ContainerSpec& out) {
    const auto amount = [](const std::map<std::string, Quantity>& all, const char* resource) {
        const auto it = all.find(resource);
        return it == all.end() ? Quantity{} : it->second;
    };
    out.memory_limit = bytes_or_zero(amount(container.resources.limits, "memory"));
    out.cpu_limit = milli_cpu_or_zero(amount(container.resources.limits, "cpu"));
    out.cpu_request = milli_cpu_or_zero(amount(container.resources.requests, "cpu"));
}

}  // namespace

std::optional<std::string> field_value(const View& view, std::string_view path) {
    const api::ObjectMeta& meta = view.pod->metadata;
    if (path == "metadata.name") return meta.name;
    if (path == "metadata.namespace") return meta.ns;
    if (path == "metadata.uid") return meta.uid.value;
    if (path == "spec.nodeName") return view.pod->spec.node_name;
    if (path == "spec.serviceAccountName") return view.pod->spec.service_account_name;
    if (path == "status.podIP" || path == "status.hostIP" || path == "status.podIPs" || path == "status.hostIPs")
        return view.node_address;
    for (const auto& [name, map] : {
             std::pair{"metadata.annotations", &meta.annotations},
             std::pair{"metadata.labels",      &meta.labels     }
    }) {
        const std::string_view prefix(name);
        if (path == prefix) {  // a file of all of them; as an environment variable the API refuses it
            std::string text;
            for (const auto& [key, value] : *map) text += key + "=" + json::print(json::Value(value)) + "\n";
            return text;
        }
        if (!path.starts_with(prefix) || !path.substr(prefix.size()).starts_with("['") || !path.ends_with("']"))
            continue;
        const auto it = map->find(std::string(path.substr(prefix.size() + 2, path.size() - prefix.size() - 4)));
        return it == map->end() ? std::string() : it->second;
    }
    return {};
}

Result<ContainerSpec> container_spec(const View& view, const api::Container& container, std::int64_t attempt) {
    ContainerSpec out;
    out.pod_uid = view.uid;
    out.pod_name = view.key.name;
    out.pod_ns = view.key.ns;
    out.name = container.name;
    out.attempt = attempt;
    out.image = container.image;
    TRY(out.env, environment(view, container));
    for (const auto* words : {&container.command, &container.args}) {
        for (const std::string& word : *words) out.argv.push_back(expand(word, out.env));
    }
    out.working_dir = container.working_dir;
    out.hostname = view.pod->spec.hostname.empty() ? view.key.name.substr(0, 63) : view.pod->spec.hostname;
    out.uid = identity(view, container, "runAsUser");
    out.gid = identity(view, container, "runAsGroup");
    out.fs_group = fs_group(*view.pod);
    out.privileged = json::bool_at(container.security_context, "/privileged");
    out.capabilities = capabilities(container, out.uid);
    out.termination_message_path =
        container.termination_message_path.empty() ? "/dev/termination-log" : container.termination_message_path;
    out.message_from_log = container.termination_message_policy == "FallbackToLogsOnError";
    add_resources(container, out);
    add_machine_devices(container, out);
    TRY_DO(add_volumes(view, container, out));
    return out;
}

}  // namespace berth::solo::kubelet
