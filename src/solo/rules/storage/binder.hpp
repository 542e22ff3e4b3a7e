// The volume binder (Kubernetes' PersistentVolume controller): claims and volumes find each other, one write at a time,
// so that a crash between any two of them is only a pause. Source: docs/spec/placement.md 4.5
#pragma once

#include "solo/rules/storage/matching.hpp"

namespace berth::solo {

struct ClaimView {
    api::Key key;
    std::optional<api::PersistentVolumeClaim> claim;
    std::optional<api::StorageClass> storage_class;
    std::string default_class;                          ///< "" = there is none
    std::vector<const api::PersistentVolume*> volumes;  ///< all
    std::vector<const api::Pod*> pods;                  ///< those that use the claim
};
api::Plan bind_claim(const ClaimView& view);

struct VolumeView {
    api::Key key;
    std::optional<api::PersistentVolume> volume;
    std::optional<api::PersistentVolumeClaim> claim;  ///< of the claimRef, by name; its UID may be another one
    bool is_confirmed = false;  ///< the API itself was asked, and has no claim of the claimRef's UID
};
/// Effects: "look for claim" {namespace, name, uid, volume}: asks the API whether the claimRef's claim is really gone.
/// A volume is never given up because a cache lags (K-52): its data may be deleted next.
api::Plan bind_volume(const VolumeView& view);

}  // namespace berth::solo
