// Which pods name a claim: kept up to date from the cache of pods, so that no view scans a namespace.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/core.hpp"
#include "kube/cache.hpp"

namespace berth::controllers {

class ClaimUsers {
public:
    /// Called with the claim's namespace and name when a pod that names it changes, appears or goes.
    using Listener = std::function<void(const std::string& ns, const std::string& claim)>;

    /// Listens to the cache from now on; the cache outlives this.
    explicit ClaimUsers(kube::Cache<api::Pod>& pods);

    void listen(Listener listener) { listeners_.push_back(std::move(listener)); }

    /// Pods that name the claim, whatever their phase, in order of name.
    [[nodiscard]] std::vector<const api::Pod*> of(const std::string& ns, const std::string& claim) const;

private:
    using Name = std::pair<std::string, std::string>;  // namespace, name

    void changed(const Name& pod);

    kube::Cache<api::Pod>& pods_;
    std::map<Name, std::set<std::string>> claims_of_;  ///< by pod
    std::map<Name, std::set<std::string>> pods_of_;    ///< by claim
    std::vector<Listener> listeners_;
};

}  // namespace berth::controllers
