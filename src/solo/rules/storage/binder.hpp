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
    std::string waiting_pod;                            ///< a pod that uses the claim and has no node yet
    std::optional<api::PersistentVolumeClaim> other;    ///< the claim the named volume is reserved for, if not this one
};
api::Plan bind_claim(const ClaimView& view);

struct VolumeView {
    api::Key key;
    std::optional<api::PersistentVolume> volume;
    std::optional<api::PersistentVolumeClaim> claim;  ///< of the claimRef, by name; its UID may be another one
};
api::Plan bind_volume(const VolumeView& view);

}  // namespace berth::solo
