// Every object by UID, who owns whom, and what is in which namespace: kept up to date by the caches' listeners.
#pragma once

#include <set>

#include "kube/engine.hpp"
#include "solo/rules/housekeeping/housekeeping.hpp"

namespace berth::solo {

class Graph {
public:
    struct Entry {
        kube::WorkKey key;
        api::ObjectMeta meta;
    };

    void put(const api::Kind& kind, const api::ObjectMeta& meta);
    void remove(const Uid& uid);
    /// The API was asked, or the object was seen to go: it never comes back under this UID.
    void confirm_absent(const Uid& uid) { absent_.insert(uid); }

    [[nodiscard]] const Entry* find(const Uid& uid) const;
    [[nodiscard]] bool has(const kube::WorkKey& key) const { return by_key_.contains(key); }
    [[nodiscard]] std::vector<const Entry*> dependents_of(const Uid& owner) const;
    [[nodiscard]] std::vector<const Entry*> content_of(const std::string& ns) const;
    [[nodiscard]] GarbageView view_of(const kube::WorkKey& key) const;

private:
    [[nodiscard]] Owner owner_state(const api::OwnerReference& owner, const kube::WorkKey& dependent) const;
    [[nodiscard]] bool has_other_owner(const Entry& dependent, const Uid& but) const;

    std::map<Uid, Entry> objects_;
    std::map<Uid, std::set<Uid>> dependents_;
    std::map<std::string, std::set<Uid>> in_namespace_;
    std::map<kube::WorkKey, Uid> by_key_;
    std::set<Uid> absent_;  ///< only of owners that a living object names
};

/// Where an owner of that reference would be; kind nullptr: nobody can tell.
kube::WorkKey owner_key(const api::OwnerReference& owner, const kube::WorkKey& dependent);

}  // namespace berth::solo
