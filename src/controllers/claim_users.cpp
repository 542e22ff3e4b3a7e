#include "controllers/claim_users.hpp"

namespace berth::controllers {
namespace {

std::set<std::string> claims_named_by(const api::Pod& pod) {
    std::set<std::string> out;
    for (const api::PodVolume& volume : pod.spec.volumes) {
        if (volume.persistent_volume_claim) out.insert(volume.persistent_volume_claim->claim_name);
    }
    return out;
}

}  // namespace

ClaimUsers::ClaimUsers(kube::Cache<api::Pod>& pods) : pods_(pods) {
    pods.listen([this](const api::ObjectMeta* before, const api::ObjectMeta* after) {
        const api::ObjectMeta& meta = after != nullptr ? *after : *before;
        changed({meta.ns, meta.name});
    });
}

void ClaimUsers::changed(const Name& pod) {
    const api::Pod* known = pods_.get(pod.first, pod.second);
    std::set<std::string> now = known == nullptr ? std::set<std::string>() : claims_named_by(*known);
    std::set<std::string> touched = now;
    if (const auto it = claims_of_.find(pod); it != claims_of_.end()) touched.merge(std::set(it->second));
    for (const std::string& claim : touched) {
        std::set<std::string>& users = pods_of_[{pod.first, claim}];
        if (now.contains(claim)) {
            users.insert(pod.second);
        } else {
            users.erase(pod.second);
        }
        if (users.empty()) pods_of_.erase({pod.first, claim});
    }
    if (now.empty()) {
        claims_of_.erase(pod);
    } else {
        claims_of_[pod] = std::move(now);
    }
    for (const std::string& claim : touched) {
        for (const Listener& listener : listeners_) listener(pod.first, claim);
    }
}

std::vector<const api::Pod*> ClaimUsers::of(const std::string& ns, const std::string& claim) const {
    std::vector<const api::Pod*> out;
    const auto it = pods_of_.find({ns, claim});
    if (it == pods_of_.end()) return out;
    for (const std::string& name : it->second) {
        if (const api::Pod* pod = pods_.get(ns, name)) out.push_back(pod);
    }
    return out;
}

}  // namespace berth::controllers
