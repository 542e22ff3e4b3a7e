// Requests of pods and what is left of nodes. Source: docs/spec/placement.md 4.3
#include "solo/rules/scheduler/filters.hpp"

namespace berth::solo::scheduler {
namespace {

std::int64_t amount(const std::string& resource, const Quantity& quantity) {
    return resource == "cpu" ? milli_cpu_or_zero(quantity).value : bytes_or_zero(quantity).value;
}

Amounts container_requests(const api::Container& container) {
    Amounts out;
    for (const auto& [resource, quantity] : container.resources.requests) out[resource] = amount(resource, quantity);
    // A limit without a request is one.
    for (const auto& [resource, quantity] : container.resources.limits)
        out.try_emplace(resource, amount(resource, quantity));
    return out;
}

void add(Amounts& to, const Amounts& more) {
    for (const auto& [resource, value] : more) to[resource] += value;
}

void raise(Amounts& to, const Amounts& peak) {
    for (const auto& [resource, value] : peak) to[resource] = std::max(to[resource], value);
}

}  // namespace

Amounts requests_of(const api::Pod& pod) {
    Amounts running;
    for (const api::Container& container : pod.spec.containers) add(running, container_requests(container));
    Amounts sidecars, peak;
    for (const api::Container& container : pod.spec.init_containers) {
        if (container.restart_policy == "Always") {
            add(sidecars, container_requests(container));
            raise(peak, sidecars);
        } else {
            Amounts beside = sidecars;
            add(beside, container_requests(container));
            raise(peak, beside);
        }
    }
    add(running, sidecars);
    raise(running, peak);
    return running;
}

Bytes storage_request(const api::Pod& pod) {
    const Amounts all = requests_of(pod);
    const auto it = all.find(std::string(kStorageResource));
    return it == all.end() ? Bytes{} : Bytes{it->second};
}

std::vector<std::string> lacking_resources(const View& view, const NodeView& node) {
    std::vector<std::string> out;
    const auto allocatable = [&](const std::string& resource) {
        const auto it = node.node.status.allocatable.find(resource);
        return it == node.node.status.allocatable.end() ? std::int64_t{0} : amount(resource, it->second);
    };
    if (const std::int64_t pods = allocatable("pods");
        pods > 0 && static_cast<std::int64_t>(node.pods.size()) + 1 > pods)
        out.emplace_back("Too many pods");
    Amounts used;
    for (const api::Pod* pod : node.pods) add(used, requests_of(*pod));
    for (const auto& [resource, wanted] : requests_of(*view.pod)) {
        // What claims have of our own storage counts against what pods ask of it.
        const std::int64_t claimed = resource == kStorageResource ? node.room.used.value : 0;
        if (wanted > 0 && used[resource] + claimed + wanted > allocatable(resource))
            out.push_back("Insufficient " + resource);
    }
    return out;
}

std::int64_t score(const View& view, const NodeView& node) {
    Amounts used = requests_of(*view.pod);
    for (const api::Pod* pod : node.pods) add(used, requests_of(*pod));
    std::int64_t total = 0;
    for (const char* resource : {"cpu", "memory"}) {
        const auto it = node.node.status.allocatable.find(resource);
        const std::int64_t all = it == node.node.status.allocatable.end() ? 0 : amount(resource, it->second);
        if (all > 0) total += std::max<std::int64_t>(0, all - used[resource]) / std::max<std::int64_t>(1, all / 100);
    }
    const auto& affinity = view.pod->spec.affinity;
    if (affinity && affinity->node_affinity) {
        for (const api::PreferredNodeTerm& term : affinity->node_affinity->preferred) {
            if (matches(term.preference, node.node)) total += 2 * term.weight;
        }
    }
    for (const api::Taint& taint : node.node.spec.taints) {
        if (taint.effect == "PreferNoSchedule") total -= 20;
    }
    // Pods of one owner are spread.
    const api::OwnerReference* owner = view.pod->metadata.controller();
    for (const api::Pod* pod : node.pods) {
        const api::OwnerReference* other = pod->metadata.controller();
        if (owner != nullptr && other != nullptr && owner->uid == other->uid) total -= 10;
    }
    return total;
}

}  // namespace berth::solo::scheduler
