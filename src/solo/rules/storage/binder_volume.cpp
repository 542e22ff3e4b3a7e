// A volume, top to bottom. The first rule that applies decides.
#include "solo/rules/storage/binder.hpp"

namespace berth::solo {
namespace {

using api::Patch;
using api::Plan;

const api::PersistentVolume& volume(const VolumeView& view) { return *view.volume; }

bool is_gone(const VolumeView& view) { return !view.volume; }
bool is_unclaimed(const VolumeView& view) { return !volume(view).spec.claim_ref; }
bool is_reserved_by_name(const VolumeView& view) { return volume(view).spec.claim_ref->uid.empty(); }
bool has_lost_its_claim(const VolumeView& view) {
    return !view.claim || view.claim->metadata.uid != volume(view).spec.claim_ref->uid;
}
bool may_have_lost_its_claim(const VolumeView& view) {
    const bool is_given_up = volume(view).status.phase == "Released" || volume(view).status.phase == "Failed";
    return has_lost_its_claim(view) && !is_given_up && !view.is_confirmed;
}
bool awaits_its_claim(const VolumeView& view) { return view.claim->spec.volume_name.empty(); }
bool is_its_claims_volume(const VolumeView& view) { return view.claim->spec.volume_name == volume(view).metadata.name; }
bool is_superfluous(const VolumeView& view) {
    return volume(view).metadata.annotation(kProvisionedBy) != nullptr && volume(view).spec.reclaim_policy == "Delete";
}

Plan to_phase(const VolumeView& view, std::string_view phase) {
    if (volume(view).status.phase == phase) return api::settled();
    return api::want(Patch{
        view.key, api::Part::status, json::Object{{"status", json::Object{{"phase", phase}}}}, volume(view).metadata.uid
    });
}

Plan nothing(const VolumeView&) { return api::settled(); }
Plan make_available(const VolumeView& view) { return to_phase(view, "Available"); }
Plan release(const VolumeView& view) {
    return volume(view).status.phase == "Failed" ? api::settled() : to_phase(view, "Released");
}
Plan keep_bound(const VolumeView& view) { return to_phase(view, "Bound"); }

Plan look_for_claim(const VolumeView& view) {
    const api::ObjectReference& ref = *volume(view).spec.claim_ref;
    json::Object args{
        {"namespace", ref.ns                    },
        {"name",      ref.name                  },
        {"uid",       ref.uid.value             },
        {"volume",    volume(view).metadata.name}
    };
    return api::want(api::Effect{"look for claim", ref.ns + "/" + ref.name, std::move(args)});
}

// Its claim chose another volume: give up the reservation that the binder made, or only the UID in one a user made.
Plan unbind(const VolumeView& view) {
    const bool is_ours = volume(view).metadata.annotation(kBoundByController) != nullptr;
    json::Value patch =
        is_ours ? json::Value(json::Object{
                      {"spec", json::Object{{"claimRef", nullptr}}}
    })
                : json::Value(json::Object{
                      {"spec", json::Object{{"claimRef", json::Object{{"uid", nullptr}, {"resourceVersion", nullptr}}}}}
                  });
    Plan plan = api::want(Patch{
        view.key, api::Part::object, std::move(patch), volume(view).metadata.uid, volume(view).metadata.resource_version
    });
    plan.add(Patch{
        view.key,
        api::Part::status,
        json::Object{{"status", json::Object{{"phase", "Available"}}}},
        volume(view).metadata.uid
    });
    return plan;
}

constexpr api::Rule<VolumeView> kVolumeRules[] = {
    {"K-50", "gone",                            is_gone,                 nothing       },
    {"K-50", "unclaimed-is-available",          is_unclaimed,            make_available},
    {"K-51", "reserved-by-name-is-available",   is_reserved_by_name,     make_available},
    {"K-52", "its-claim-is-looked-for",         may_have_lost_its_claim, look_for_claim},
    {"K-52", "its-claim-is-gone",               has_lost_its_claim,      release       },
    {"K-53", "its-claim-will-find-it",          awaits_its_claim,        nothing       },
    {"K-54", "bound",                           is_its_claims_volume,    keep_bound    },
    {"K-55", "superfluous-volume-is-reclaimed", is_superfluous,          release       },
    {"K-55", "its-claim-chose-another",         api::always<VolumeView>, unbind        },
};

}  // namespace

api::Plan bind_volume(const VolumeView& view) { return api::first_match(kVolumeRules, view); }

}  // namespace berth::solo
