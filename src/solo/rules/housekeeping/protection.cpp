#include "solo/rules/housekeeping/housekeeping.hpp"

namespace berth::solo {
namespace {

constexpr const char* kClaimFinalizer = "kubernetes.io/pvc-protection";
constexpr const char* kVolumeFinalizer = "kubernetes.io/pv-protection";

api::Plan drop_finalizer(const api::Key& key, const api::ObjectMeta& meta, std::string_view finalizer) {
    json::Array left;
    for (const std::string& name : meta.finalizers) {
        if (name != finalizer) left.push_back(json::Value(name));
    }
    return api::want(api::Patch{
        key,
        api::Part::object,
        json::Object{{"metadata", json::Object{{"finalizers", std::move(left)}}}},
        meta.uid,
        meta.resource_version
    });
}

bool is_kept(const ClaimProtectionView& view) {
    return !view.claim || !view.claim->metadata.is_deleting() || !view.claim->metadata.has_finalizer(kClaimFinalizer);
}
// Ended pods count until their object is gone; pods without a node do not.
bool is_used(const ClaimProtectionView& view) {
    return std::ranges::any_of(view.pods, [](const api::Pod* pod) { return !pod->spec.node_name.empty(); });
}
api::Plan nothing(const ClaimProtectionView&) { return api::settled(); }
api::Plan await_pods(const ClaimProtectionView& view) {
    return api::wait_for({"pods", view.key, "a pod on a node still uses it"});
}
api::Plan let_go(const ClaimProtectionView& view) {
    return drop_finalizer(view.key, view.claim->metadata, kClaimFinalizer);
}

constexpr api::Rule<ClaimProtectionView> kClaimRules[] = {
    {"K-90", "claim-is-not-being-deleted", is_kept,                          nothing   },
    {"K-90", "used-claim-stays",           is_used,                          await_pods},
    {"K-90", "unused-claim-goes",          api::always<ClaimProtectionView>, let_go    },
};

bool volume_is_kept(const VolumeProtectionView& view) {
    return !view.volume || !view.volume->metadata.is_deleting() ||
           !view.volume->metadata.has_finalizer(kVolumeFinalizer);
}
bool is_bound_volume(const VolumeProtectionView& view) { return view.volume->status.phase == "Bound"; }
api::Plan nothing_for_volume(const VolumeProtectionView&) { return api::settled(); }
api::Plan await_claim(const VolumeProtectionView& view) {
    return api::wait_for({"claim", view.key, "it is still bound"});
}
api::Plan let_volume_go(const VolumeProtectionView& view) {
    return drop_finalizer(view.key, view.volume->metadata, kVolumeFinalizer);
}

constexpr api::Rule<VolumeProtectionView> kVolumeRules[] = {
    {"K-91", "volume-is-not-being-deleted", volume_is_kept,                    nothing_for_volume},
    {"K-91", "bound-volume-stays",          is_bound_volume,                   await_claim       },
    {"K-91", "unbound-volume-goes",         api::always<VolumeProtectionView>, let_volume_go     },
};

}  // namespace

api::Plan protect_claim(const ClaimProtectionView& view) { return api::first_match(kClaimRules, view); }

api::Plan protect_volume(const VolumeProtectionView& view) { return api::first_match(kVolumeRules, view); }

}  // namespace berth::solo
