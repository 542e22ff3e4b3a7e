// One node for one pod: the first filter that refuses gives the reasons, in Kubernetes' words.
#include "solo/rules/scheduler/filters.hpp"

#include "solo/rules/scheduler/facts.hpp"

namespace berth::solo::scheduler {
namespace {

using Reasons = std::vector<std::string>;

bool tolerates(const std::vector<api::Toleration>& tolerations, const api::Taint& taint) {
    return std::ranges::any_of(tolerations, [&](const api::Toleration& t) {
        if (!t.effect.empty() && t.effect != taint.effect) return false;
        if (t.op == "Exists") return t.key.empty() || t.key == taint.key;
        return t.key == taint.key && t.value == taint.value;
    });
}

Reasons unschedulable(const View& view, const NodeView& node) {
    const api::Taint cordon{"node.kubernetes.io/unschedulable", "", "NoSchedule"};
    if (!node.node.spec.unschedulable || tolerates(view.pod->spec.tolerations, cordon)) return {};
    return {"node(s) were unschedulable"};
}

Reasons tainted(const View& view, const NodeView& node) {
    for (const api::Taint& taint : node.node.spec.taints) {
        const bool is_hard = taint.effect == "NoSchedule" || taint.effect == "NoExecute";
        if (is_hard && !tolerates(view.pod->spec.tolerations, taint))
            return {"node(s) had untolerated taint {" + taint.key + ": " + taint.value + "}"};
    }
    return {};
}

}  // namespace

bool is_selected(const api::Pod& pod, const api::Node& node) {
    const bool labels_fit = std::ranges::all_of(pod.spec.node_selector, [&](const auto& pair) {
        const std::string* value = node.metadata.label(pair.first);
        return value != nullptr && *value == pair.second;
    });
    const auto& affinity = pod.spec.affinity;
    const bool is_free = !affinity || !affinity->node_affinity || !affinity->node_affinity->required;
    return labels_fit && (is_free || matches(*affinity->node_affinity->required, node));
}

namespace {

Reasons unselected(const View& view, const NodeView& node) {
    if (is_selected(*view.pod, node.node)) return {};
    return {"node(s) didn't match Pod's node affinity/selector"};
}

struct HostPort {
    std::string protocol;
    std::string ip;
    std::int64_t port = 0;
};

std::vector<HostPort> host_ports(const api::Pod& pod) {
    std::vector<HostPort> out;
    for (const auto* list : {&pod.spec.init_containers, &pod.spec.containers}) {
        for (const api::Container& container : *list) {
            if (list == &pod.spec.init_containers && container.restart_policy != "Always") continue;
            for (const api::ContainerPort& port : container.ports) {
                if (port.host_port <= 0) continue;
                const bool is_any = port.host_ip.empty() || port.host_ip == "0.0.0.0";
                out.push_back(
                    {port.protocol.empty() ? "TCP" : port.protocol, is_any ? "" : port.host_ip, port.host_port}
                );
            }
        }
    }
    return out;
}

bool collide(const HostPort& a, const HostPort& b) {
    return a.protocol == b.protocol && a.port == b.port && (a.ip.empty() || b.ip.empty() || a.ip == b.ip);
}

Reasons ports_taken(const View& view, const NodeView& node) {
    const std::vector<HostPort> wanted = host_ports(*view.pod);
    if (wanted.empty()) return {};
    for (const api::Pod* pod : node.pods) {
        for (const HostPort& taken : host_ports(*pod)) {
            const bool collides =
                std::ranges::any_of(wanted, [&](const HostPort& port) { return collide(port, taken); });
            if (collides) return {"node(s) didn't have free ports for the requested pod ports"};
        }
    }
    return {};
}

Reasons claims_exclusive(const View& view, const NodeView&) {
    for (const auto& [name, claim] : view.claims) {
        if (view.exclusive_claims.contains(name))
            return {"node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"};
    }
    return {};
}

// A volume's zone label may list several zones, joined by two underscores.
bool is_in_zone(const std::string& zones, const std::string& zone) {
    for (const auto part : std::views::split(zones, std::string_view("__"))) {
        if (std::string_view(part) == zone) return true;
    }
    return false;
}

Reasons outside_zone(const View& view, const NodeView& node) {
    for (const auto& [name, claim] : view.claims) {
        const api::PersistentVolume* volume = is_bound(claim) ? volume_named(view, claim.spec.volume_name) : nullptr;
        if (volume == nullptr) continue;
        for (const char* key : {"topology.kubernetes.io/zone", "topology.kubernetes.io/region"}) {
            const std::string* zones = volume->metadata.label(key);
            const std::string* zone = node.node.metadata.label(key);
            if (zones != nullptr && (zone == nullptr || !is_in_zone(*zones, *zone)))
                return {"node(s) had no available volume zone"};
        }
    }
    return {};
}

Reasons volumes_apart(const View& view, const NodeView& node) {
    std::string why;
    if (bindings_on(view, node, why)) return {};
    return {why};
}

Reasons pod_rules(const View& view, const NodeView& node) {
    const auto refusal = pod_rules_refusal(view, node);
    return refusal ? Reasons{*refusal} : Reasons{};
}

}  // namespace

std::vector<std::string> refusals(const View& view, const NodeView& node) {
    constexpr Reasons (*kFilters[])(const View&, const NodeView&) = {
        unschedulable,
        tainted,
        unselected,
        ports_taken,
        lacking_resources,
        claims_exclusive,
        volumes_apart,
        outside_zone,
        pod_rules,
    };
    for (const auto filter : kFilters) {
        if (Reasons reasons = filter(view, node); !reasons.empty()) return reasons;
    }
    return {};
}

}  // namespace berth::solo::scheduler
