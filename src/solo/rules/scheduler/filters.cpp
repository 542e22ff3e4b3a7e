// One node for one pod: the first filter that refuses gives the reasons, in Kubernetes' words.
#include "solo/rules/scheduler/filters.hpp"

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
        if (is_hard && !tolerates(view.pod->spec.tolerations, taint)) return {"node(s) had untolerated taint {" + taint.key + ": " + taint.value + "}"};
    }
    return {};
}

Reasons unselected(const View& view, const NodeView& node) {
    const bool labels_fit = std::ranges::all_of(view.pod->spec.node_selector, [&](const auto& pair) {
        const std::string* value = node.node.metadata.label(pair.first);
        return value != nullptr && *value == pair.second;
    });
    const auto& affinity = view.pod->spec.affinity;
    const bool terms_fit = !affinity || !affinity->node_affinity || !affinity->node_affinity->required || matches(*affinity->node_affinity->required, node.node);
    if (labels_fit && terms_fit) return {};
    return {"node(s) didn't match Pod's node affinity/selector"};
}

std::set<std::pair<std::string, std::int64_t>> host_ports(const api::Pod& pod) {
    std::set<std::pair<std::string, std::int64_t>> out;
    for (const api::Container& container : pod.spec.containers) {
        for (const api::ContainerPort& port : container.ports) {
            if (port.host_port > 0) out.emplace(port.protocol.empty() ? "TCP" : port.protocol, port.host_port);
        }
    }
    return out;
}

Reasons ports_taken(const View& view, const NodeView& node) {
    const auto wanted = host_ports(*view.pod);
    for (const api::Pod* pod : node.pods) {
        for (const auto& port : host_ports(*pod)) {
            if (wanted.contains(port)) return {"node(s) didn't have free ports for the requested pod ports"};
        }
    }
    return {};
}

Reasons claims_exclusive(const View& view, const NodeView&) {
    for (const auto& [name, claim] : view.claims) {
        if (view.exclusive_claims.contains(name)) return {"node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"};
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
        unschedulable, tainted, unselected, ports_taken, lacking_resources, claims_exclusive, volumes_apart, pod_rules,
    };
    for (const auto filter : kFilters) {
        if (Reasons reasons = filter(view, node); !reasons.empty()) return reasons;
    }
    return {};
}

}  // namespace berth::solo::scheduler
