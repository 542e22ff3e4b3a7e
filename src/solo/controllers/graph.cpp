#include "solo/controllers/graph.hpp"

namespace berth::solo {

void Graph::put(const api::Kind& kind, const api::ObjectMeta& meta) {
    // What is known of absent owners outlasts a change of their dependent.
    std::set<Uid> absent;
    for (const api::OwnerReference& owner : meta.owner_references) {
        if (absent_.contains(owner.uid)) absent.insert(owner.uid);
    }
    remove(meta.uid);
    absent_.merge(absent);
    const kube::WorkKey key{&kind, meta.ns, meta.name};
    objects_[meta.uid] = {key, meta};
    by_key_[key] = meta.uid;
    for (const api::OwnerReference& owner : meta.owner_references) dependents_[owner.uid].insert(meta.uid);
    if (!meta.ns.empty()) in_namespace_[meta.ns].insert(meta.uid);
}

void Graph::remove(const Uid& uid) {
    const auto it = objects_.find(uid);
    if (it == objects_.end()) return;
    for (const api::OwnerReference& owner : it->second.meta.owner_references) {
        std::set<Uid>& owned = dependents_[owner.uid];
        owned.erase(uid);
        if (!owned.empty()) continue;
        dependents_.erase(owner.uid);
        absent_.erase(owner.uid);  // nobody names it any more
    }
    if (const auto content = in_namespace_.find(it->second.meta.ns); content != in_namespace_.end()) {
        content->second.erase(uid);
        if (content->second.empty()) in_namespace_.erase(content);
    }
    const auto known = by_key_.find(it->second.key);
    if (known != by_key_.end() && known->second == uid) by_key_.erase(known);
    objects_.erase(it);
}

const Graph::Entry* Graph::find(const Uid& uid) const {
    const auto it = objects_.find(uid);
    return it == objects_.end() ? nullptr : &it->second;
}

std::vector<const Graph::Entry*> Graph::dependents_of(const Uid& owner) const {
    std::vector<const Entry*> out;
    const auto it = dependents_.find(owner);
    if (it == dependents_.end()) return out;
    for (const Uid& uid : it->second) out.push_back(&objects_.at(uid));
    return out;
}

std::vector<const Graph::Entry*> Graph::content_of(const std::string& ns) const {
    std::vector<const Entry*> out;
    const auto it = in_namespace_.find(ns);
    if (it == in_namespace_.end()) return out;
    for (const Uid& uid : it->second) out.push_back(&objects_.at(uid));
    return out;
}

GarbageView Graph::view_of(const kube::WorkKey& key) const {
    GarbageView view;
    view.key = key;
    const auto known = by_key_.find(key);
    if (known == by_key_.end()) return view;
    view.object = objects_.at(known->second).meta;
    for (const api::OwnerReference& owner : view.object->owner_references)
        view.owners.push_back(owner_state(owner, key));
    for (const Entry* one : dependents_of(known->second)) {
        view.dependents.push_back(
            {one->key, one->meta, has_other_owner(*one, known->second), dependents_.contains(one->meta.uid)}
        );
    }
    return view;
}

Owner Graph::owner_state(const api::OwnerReference& owner, const kube::WorkKey& dependent) const {
    const kube::WorkKey where = owner_key(owner, dependent);
    if (where.kind == nullptr) return Owner::present;
    if (const Entry* entry = find(owner.uid)) {
        // One of another namespace is no owner.
        const bool is_in_reach = entry->key.ns.empty() || entry->key.ns == dependent.ns;
        return is_in_reach ? Owner::present : Owner::absent;
    }
    return absent_.contains(owner.uid) ? Owner::absent : Owner::unfound;
}

bool Graph::has_other_owner(const Entry& dependent, const Uid& but) const {
    return std::ranges::any_of(dependent.meta.owner_references, [&](const api::OwnerReference& owner) {
        const Entry* entry = owner.uid == but ? nullptr : find(owner.uid);
        return entry != nullptr && !(entry->meta.is_deleting() && entry->meta.has_finalizer("foregroundDeletion"));
    });
}

kube::WorkKey owner_key(const api::OwnerReference& owner, const kube::WorkKey& dependent) {
    const api::Kind* kind = api::find_kind_of(owner.api_version, owner.kind);
    // An object of the cluster's scope cannot be owned by one in a namespace: it would be looked for nowhere.
    if (kind == nullptr || (kind->is_namespaced() && dependent.ns.empty())) return {};
    return {kind, kind->is_namespaced() ? dependent.ns : std::string(), owner.name};
}

}  // namespace berth::solo
