// Which VMs or VMIs name a claim: kept up to date from their cache, so that no view and no event scans a namespace.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kube/cache.hpp"

namespace berth::controllers {

template <class T>
class VolumeUsers {
public:
    using Name = std::pair<std::string, std::string>;  ///< namespace, name
    /// Called with a claim when an object that names it changes, appears or goes.
    using Listener = std::function<void(const Name& claim)>;

    /// Listens to the cache from now on; the cache outlives this, and this every event of it.
    VolumeUsers(kube::Cache<T>& cache, std::set<Name> (*claims_of)(const T&)) : cache_(cache), claims_of_(claims_of) {
        cache.listen([this](const api::ObjectMeta* before, const api::ObjectMeta* after) {
            const api::ObjectMeta& meta = after != nullptr ? *after : *before;
            changed({meta.ns, meta.name});
        });
    }

    void listen(Listener listener) { listeners_.push_back(std::move(listener)); }

    /// The objects that name the claim, in order of name.
    [[nodiscard]] std::vector<const T*> of(const Name& claim) const {
        std::vector<const T*> out;
        const auto it = users_.find(claim);
        if (it == users_.end()) return out;
        for (const Name& user : it->second) {
            if (const T* object = cache_.get(user.first, user.second)) out.push_back(object);
        }
        return out;
    }

private:
    void changed(const Name& user) {
        const T* object = cache_.get(user.first, user.second);
        std::set<Name> now = object == nullptr ? std::set<Name>() : claims_of_(*object);
        std::set<Name> touched = now;
        if (const auto it = named_.find(user); it != named_.end()) touched.insert(it->second.begin(), it->second.end());
        for (const Name& claim : touched) {
            std::set<Name>& users = users_[claim];
            if (now.contains(claim)) {
                users.insert(user);
            } else {
                users.erase(user);
            }
            if (users.empty()) users_.erase(claim);
        }
        if (now.empty()) {
            named_.erase(user);
        } else {
            named_[user] = std::move(now);
        }
        for (const Name& claim : touched) {
            for (const Listener& listener : listeners_) listener(claim);
        }
    }

    kube::Cache<T>& cache_;
    std::set<Name> (*claims_of_)(const T&);
    std::map<Name, std::set<Name>> named_;  ///< by user
    std::map<Name, std::set<Name>> users_;  ///< by claim
    std::vector<Listener> listeners_;
};

}  // namespace berth::controllers
