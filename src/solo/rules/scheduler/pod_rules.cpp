// Pods that want to be near or far from each other. Source: docs/spec/placement.md 4.3, L-14
#include "base/ranges.hpp"
#include "solo/rules/scheduler/filters.hpp"

namespace berth::solo::scheduler {
namespace {

bool is_in_scope(const View& view, const api::PodAffinityTerm& term, const api::Pod& owner, const std::string& ns) {
    if (term.namespaces.empty() && !term.namespace_selector) return ns == owner.metadata.ns;
    if (contains(term.namespaces, ns)) return true;
    const auto labels = view.namespaces.find(ns);
    return term.namespace_selector && labels != view.namespaces.end() &&
           api::matches(*term.namespace_selector, labels->second);
}

// Whether a term of `owner` speaks of `other`.
bool is_meant(const View& view, const api::PodAffinityTerm& term, const api::Pod& owner, const api::Pod& other) {
    return term.label_selector && is_in_scope(view, term, owner, other.metadata.ns) &&
           api::matches(*term.label_selector, other.metadata.labels);
}

const std::string* domain_of(const NodeView& node, const std::string& key) { return node.node.metadata.label(key); }

// Calls `visit` with every pod in the same topology domain as `node`.
template <class Visit>
bool any_in_domain(const View& view, const NodeView& node, const std::string& key, Visit visit) {
    const std::string* domain = domain_of(node, key);
    if (domain == nullptr) return false;
    for (const NodeView& other : view.nodes) {
        const std::string* its = domain_of(other, key);
        if (its == nullptr || *its != *domain) continue;
        if (std::ranges::any_of(other.pods, [&](const api::Pod* pod) { return visit(*pod); })) return true;
    }
    return false;
}

bool breaks_own_anti_affinity(const View& view, const NodeView& node) {
    const auto& affinity = view.pod->spec.affinity;
    if (!affinity || !affinity->pod_anti_affinity) return false;
    return std::ranges::any_of(affinity->pod_anti_affinity->required, [&](const api::PodAffinityTerm& term) {
        return any_in_domain(view, node, term.topology_key, [&](const api::Pod& pod) {
            return is_meant(view, term, *view.pod, pod);
        });
    });
}

bool breaks_others_anti_affinity(const View& view, const NodeView& node) {
    for (const NodeView& other : view.nodes) {
        for (const api::Pod* pod : other.pods) {
            if (!pod->spec.affinity || !pod->spec.affinity->pod_anti_affinity) continue;
            for (const api::PodAffinityTerm& term : pod->spec.affinity->pod_anti_affinity->required) {
                const std::string* here = domain_of(node, term.topology_key);
                const std::string* there = domain_of(other, term.topology_key);
                if (here != nullptr && there != nullptr && *here == *there && is_meant(view, term, *pod, *view.pod))
                    return true;
            }
        }
    }
    return false;
}

bool lacks_affinity(const View& view, const NodeView& node) {
    const auto& affinity = view.pod->spec.affinity;
    if (!affinity || !affinity->pod_affinity) return false;
    return std::ranges::any_of(affinity->pod_affinity->required, [&](const api::PodAffinityTerm& term) {
        const auto meant = [&](const api::Pod& pod) { return is_meant(view, term, *view.pod, pod); };
        if (any_in_domain(view, node, term.topology_key, meant)) return false;
        // The first of a group that wants to be together may go anywhere.
        const bool exists_anywhere = std::ranges::any_of(view.nodes, [&](const NodeView& other) {
            return std::ranges::any_of(other.pods, [&](const api::Pod* pod) { return meant(*pod); });
        });
        return exists_anywhere || !is_meant(view, term, *view.pod, *view.pod) ||
               domain_of(node, term.topology_key) == nullptr;
    });
}

// Pods of the constraint's selector in each domain that the pod could go to.
std::map<std::string, std::int64_t> count_spread(const View& view, const api::TopologySpreadConstraint& constraint) {
    std::map<std::string, std::int64_t> counts;
    for (const NodeView& node : view.nodes) {
        const std::string* domain = domain_of(node, constraint.topology_key);
        if (domain == nullptr || !is_selected(*view.pod, node.node)) continue;
        std::int64_t& count = counts[*domain];
        for (const api::Pod* pod : node.pods) {
            const bool counted = pod->metadata.ns == view.pod->metadata.ns && !pod->metadata.is_deleting();
            if (counted && api::matches(*constraint.label_selector, pod->metadata.labels)) ++count;
        }
    }
    return counts;
}

constexpr const char* kSpread = "node(s) didn't match pod topology spread constraints";

std::string spread_refusal(const View& view, const NodeView& node, const api::TopologySpreadConstraint& constraint) {
    if (constraint.when_unsatisfiable != "DoNotSchedule" || !constraint.label_selector) return {};
    const std::string* domain = domain_of(node, constraint.topology_key);
    if (domain == nullptr) return std::string(kSpread) + " (missing required label)";
    std::map<std::string, std::int64_t> counts = count_spread(view, constraint);
    const std::int64_t here = counts[*domain];
    std::int64_t least = here;
    for (const auto& [name, count] : counts) least = std::min(least, count);
    const std::int64_t own = api::matches(*constraint.label_selector, view.pod->metadata.labels) ? 1 : 0;
    return here + own - least > constraint.max_skew ? kSpread : "";
}

}  // namespace

std::optional<std::string> pod_rules_refusal(const View& view, const NodeView& node) {
    for (const api::TopologySpreadConstraint& constraint : view.pod->spec.topology_spread_constraints) {
        if (std::string refusal = spread_refusal(view, node, constraint); !refusal.empty()) return refusal;
    }
    if (lacks_affinity(view, node)) return "node(s) didn't match pod affinity rules";
    if (breaks_own_anti_affinity(view, node)) return "node(s) didn't match pod anti-affinity rules";
    if (breaks_others_anti_affinity(view, node)) return "node(s) didn't satisfy existing pods anti-affinity rules";
    return {};
}

}  // namespace berth::solo::scheduler
