// A claim, top to bottom. The first rule that applies decides.
#include "solo/rules/seed.hpp"
#include "solo/rules/storage/binder.hpp"

namespace berth::solo {
namespace {

using api::Emit;
using api::Patch;
using api::Plan;

const api::PersistentVolumeClaim& claim(const ClaimView& view) { return *view.claim; }

const api::PersistentVolume* named_volume(const ClaimView& view) {
    const auto it = std::ranges::find_if(view.volumes, [&](const auto* v) {
        return v->metadata.name == claim(view).spec.volume_name;
    });
    return it == view.volumes.end() ? nullptr : *it;
}

const api::PersistentVolume* found_volume(const ClaimView& view) {
    const bool waits = view.storage_class && view.storage_class->waits_for_consumer() &&
                       claim(view).metadata.annotation(kSelectedNode) == nullptr;
    return find_volume(view.volumes, claim(view), nullptr, {}, waits ? Choice::reserved_only : Choice::any);
}

Emit event(const ClaimView& view, std::string reason, std::string message, bool is_warning = false) {
    return {view.key, claim(view).metadata.uid, is_warning, std::move(reason), std::move(message)};
}

Patch status_patch(const ClaimView& view, json::Object status) {
    return {view.key, api::Part::status, json::Object{{"status", std::move(status)}}, claim(view).metadata.uid};
}

// --- facts ---

bool is_gone(const ClaimView& view) { return !view.claim; }
bool is_completed(const ClaimView& view) { return claim(view).metadata.annotation(kBindCompleted) != nullptr; }
bool has_lost_its_volume(const ClaimView& view) {
    return is_completed(view) && (claim(view).spec.volume_name.empty() || named_volume(view) == nullptr);
}
bool has_lost_to_another(const ClaimView& view) {
    if (!is_completed(view)) return false;
    const auto& ref = named_volume(view)->spec.claim_ref;
    return ref && ref->uid != claim(view).metadata.uid && !ref->uid.empty();
}
bool is_being_deleted(const ClaimView& view) { return claim(view).metadata.is_deleting() && !is_completed(view); }
bool lacks_class_but_default_exists(const ClaimView& view) {
    return !claim(view).spec.storage_class_name && claim(view).spec.volume_name.empty() && !view.default_class.empty();
}
bool names_an_absent_volume(const ClaimView& view) {
    return !claim(view).spec.volume_name.empty() && named_volume(view) == nullptr;
}
bool names_a_taken_volume(const ClaimView& view) {
    if (claim(view).spec.volume_name.empty()) return false;
    const api::PersistentVolume* volume = named_volume(view);
    return volume->spec.claim_ref && !is_reserved_for(*volume, claim(view));
}
bool names_a_volume_that_is_not_ready(const ClaimView& view) {
    if (claim(view).spec.volume_name.empty() || is_completed(view)) return false;
    const std::string& phase = named_volume(view)->status.phase;
    return !named_volume(view)->spec.claim_ref && (phase.empty() || phase == "Pending");
}
bool names_a_volume_that_does_not_fit(const ClaimView& view) {
    if (claim(view).spec.volume_name.empty() || is_completed(view)) return false;
    return find_volume({named_volume(view)}, claim(view), nullptr, {}, Choice::any) == nullptr &&
           !is_reserved_for(*named_volume(view), claim(view));
}
bool has_a_volume(const ClaimView& view) {
    return !claim(view).spec.volume_name.empty() || found_volume(view) != nullptr;
}
bool has_no_class(const ClaimView& view) { return class_of(claim(view)).empty(); }
bool waits_for_consumer(const ClaimView& view) {
    return view.storage_class && view.storage_class->waits_for_consumer() &&
           claim(view).metadata.annotation(kSelectedNode) == nullptr;
}
bool has_no_provisioner(const ClaimView& view) {
    return !view.storage_class || view.storage_class->provisioner.empty() ||
           view.storage_class->provisioner == "kubernetes.io/no-provisioner";
}

// --- wants ---

Plan nothing(const ClaimView&) { return api::settled(); }

Plan lose(const ClaimView& view, std::string reason, std::string message) {
    Plan plan;
    if (claim(view).status.phase == "Lost") return plan;
    plan.add(status_patch(
        view,
        {
            {"phase", "Lost"}
    }
    ));
    plan.add(event(view, std::move(reason), std::move(message), true));
    return plan;
}

Plan lose_volume(const ClaimView& view) {
    if (claim(view).spec.volume_name.empty()) {
        return lose(
            view, "ClaimLost", "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!"
        );
    }
    return lose(view, "ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!");
}

Plan lose_to_another(const ClaimView& view) {
    return lose(view, "ClaimMisbound", "Two claims are bound to the same volume, this one is bound incorrectly");
}

Plan set_default_class(const ClaimView& view) {
    return api::want(Patch{
        view.key,
        api::Part::object,
        json::Object{{"spec", json::Object{{"storageClassName", view.default_class}}}},
        claim(view).metadata.uid
    });
}

// K-44: each step is skipped when it is done already, so that the sequence can be taken up anywhere.
Plan bind(const ClaimView& view) {
    const api::PersistentVolume& volume =
        claim(view).spec.volume_name.empty() ? *found_volume(view) : *named_volume(view);
    const api::Key volume_key{&api::kVolume, "", volume.metadata.name};
    Plan plan;
    const auto& ref = volume.spec.claim_ref;
    if (!ref || ref->uid != claim(view).metadata.uid) {
        json::Value patch = json::Object{
            {"spec", json::Object{{"claimRef", reference_to(claim(view))}}}
        };
        if (!ref) json::set(patch, "/metadata/annotations/pv.kubernetes.io~1bound-by-controller", "yes");
        // On this very version: two claims must not take one volume.
        plan.add(Patch{
            volume_key, api::Part::object, std::move(patch), volume.metadata.uid, volume.metadata.resource_version
        });
    }
    if (volume.status.phase != "Bound") {
        plan.add(Patch{
            volume_key,
            api::Part::status,
            json::Object{{"status", json::Object{{"phase", "Bound"}}}},
            volume.metadata.uid
        });
    }
    json::Value patch = json::Object();
    if (claim(view).spec.volume_name.empty()) {
        json::set(patch, "/spec/volumeName", json::Value(volume.metadata.name));
        json::set(patch, "/metadata/annotations/pv.kubernetes.io~1bound-by-controller", "yes");
    }
    if (!is_completed(view)) json::set(patch, "/metadata/annotations/pv.kubernetes.io~1bind-completed", "yes");
    if (!patch.get_object().empty())
        plan.add(Patch{view.key, api::Part::object, std::move(patch), claim(view).metadata.uid});
    const api::ClaimStatus& status = claim(view).status;
    if (status.phase != "Bound" || status.access_modes != volume.spec.access_modes || status.capacity.empty()) {
        json::Array modes;
        for (const std::string& mode : volume.spec.access_modes) modes.push_back(json::Value(mode));
        plan.add(status_patch(
            view,
            {
                {"phase",       "Bound"                                                              },
                {"accessModes", std::move(modes)                                                     },
                {"capacity",    json::Object{{"storage", volume.spec.capacity.at("storage").written}}}
        }
        ));
    }
    return plan;
}

Plan await_volume(const ClaimView& view) {
    return api::wait_for({"user", view.key, "volume \"" + claim(view).spec.volume_name + "\" is not there yet"});
}

Plan refuse_taken(const ClaimView& view) {
    Plan plan = api::want(event(
        view,
        "FailedBinding",
        "volume \"" + claim(view).spec.volume_name + "\" already bound to a different claim.",
        true
    ));
    plan.wait = api::Wait{"user", view.key, "the volume it names belongs to another claim"};
    return plan;
}

Plan refuse_mismatch(const ClaimView& view) {
    Plan plan = api::want(event(
        view,
        "VolumeMismatch",
        "Cannot bind to requested volume \"" + claim(view).spec.volume_name +
            "\": its size, mode, class or access modes differ",
        true
    ));
    plan.wait = api::Wait{"user", view.key, "the volume it names does not fit"};
    return plan;
}

Plan report_no_class(const ClaimView& view) {
    Plan plan = api::want(
        event(view, "FailedBinding", "no persistent volumes available for this claim and no storage class is set")
    );
    plan.wait = api::Wait{"user", view.key, "it has no storage class and no volume fits"};
    return plan;
}

// A pod that the scheduler has looked at and could not place.
const api::Pod* unplaced_pod(const ClaimView& view) {
    const auto it = std::ranges::find_if(view.pods, [](const api::Pod* pod) {
        const api::Condition* told = api::find_condition(pod->status.conditions, "PodScheduled");
        return pod->spec.node_name.empty() && !pod->is_terminal() && told != nullptr && told->status == "False";
    });
    return it == view.pods.end() ? nullptr : *it;
}

Plan await_consumer(const ClaimView& view) {
    if (const api::Pod* pod = unplaced_pod(view)) {
        const std::string& name = pod->metadata.name;
        Plan plan = api::want(event(view, "WaitForPodScheduled", "waiting for pod " + name + " to be scheduled"));
        plan.wait = api::Wait{"scheduler", view.key, "pod " + name + " has no node yet"};
        return plan;
    }
    Plan plan =
        api::want(event(view, "WaitForFirstConsumer", "waiting for first consumer to be created before binding"));
    plan.wait = api::Wait{"user", view.key, "no pod uses it yet"};
    return plan;
}

Plan report_no_provisioner(const ClaimView& view) {
    const std::string name = class_of(claim(view));
    const std::string why = view.storage_class
                                ? "no volume of class \"" + name + "\" fits, and the class has no provisioner"
                                : "storageclass.storage.k8s.io \"" + name + "\" not found";
    Plan plan = api::want(event(view, "ProvisioningFailed", why, true));
    plan.wait = api::Wait{"user", view.key, why};
    return plan;
}

Plan ask_provisioner(const ClaimView& view) {
    const std::string& name = view.storage_class->provisioner;
    Plan plan;
    const std::string* asked = claim(view).metadata.annotation(kAskedProvisioner);
    if (asked == nullptr || *asked != name) {
        json::Value annotations = json::Object{
            {kAskedProvisioner,     name},
            {kAskedProvisionerBeta, name}
        };
        json::Value patch = json::Object{
            {"metadata", json::Object{{"annotations", std::move(annotations)}}}
        };
        plan.add(Patch{view.key, api::Part::object, std::move(patch), claim(view).metadata.uid});
    }
    if (name != kProvisioner) {  // ours acts at once, and says what it did
        const std::string message =
            "Waiting for a volume to be created either by the external provisioner '" + name +
            "' or manually by the system administrator. If volume creation is delayed, please verify that the "
            "provisioner is running and correctly registered.";
        plan.add(event(view, "ExternalProvisioning", message));
    }
    plan.wait = api::Wait{"provisioner " + name, view.key, "it makes the volume"};
    return plan;
}

constexpr api::Rule<ClaimView> kClaimRules[] = {
    {"K-40", "gone",                         is_gone,                          nothing              },
    {"K-45", "bound-claim-lost-its-volume",  has_lost_its_volume,              lose_volume          },
    {"K-46", "volume-belongs-to-another",    has_lost_to_another,              lose_to_another      },
    {"K-44", "bound-claim-stays-consistent", is_completed,                     bind                 },
    {"K-92", "deleted-claim-binds-nothing",  is_being_deleted,                 nothing              },
    {"K-04", "default-class-is-given-later", lacks_class_but_default_exists,   set_default_class    },
    {"K-43", "named-volume-is-absent",       names_an_absent_volume,           await_volume         },
    {"K-43", "named-volume-is-taken",        names_a_taken_volume,             refuse_taken         },
    {"K-43", "named-volume-is-not-ready",    names_a_volume_that_is_not_ready, await_volume         },
    {"K-43", "named-volume-does-not-fit",    names_a_volume_that_does_not_fit, refuse_mismatch      },
    {"K-44", "a-volume-fits",                has_a_volume,                     bind                 },
    {"K-42", "nothing-fits-and-no-class",    has_no_class,                     report_no_class      },
    {"K-41", "class-waits-for-a-consumer",   waits_for_consumer,               await_consumer       },
    {"K-42", "class-has-no-provisioner",     has_no_provisioner,               report_no_provisioner},
    {"K-42", "provisioner-is-asked",         api::always<ClaimView>,           ask_provisioner      },
};

}  // namespace

api::Plan bind_claim(const ClaimView& view) { return api::first_match(kClaimRules, view); }

}  // namespace berth::solo
