#include "solo/rules/storage/provisioner.hpp"

#include "api/codec.hpp"

namespace berth::solo {
namespace {

using api::Delete;
using api::Effect;
using api::Emit;
using api::Patch;
using api::Plan;

constexpr const char* kFinalizer = "external-provisioner.volume.kubernetes.io/finalizer";

const api::PersistentVolumeClaim& claim(const ProvisionView& view) { return *view.claim; }

const std::string* selected_node(const ProvisionView& view) { return claim(view).metadata.annotation(kSelectedNode); }

const NodeRoom* room_named(const ProvisionView& view, const std::string& name) {
    const auto it = std::ranges::find(view.nodes, name, &NodeRoom::name);
    return it == view.nodes.end() ? nullptr : &*it;
}

// The chosen node, or for an Immediate class the schedulable one with most room, then by name.
const NodeRoom* target(const ProvisionView& view) {
    if (const std::string* name = selected_node(view)) return room_named(view, *name);
    const NodeRoom* best = nullptr;
    for (const NodeRoom& room : view.nodes) {
        if (!room.is_schedulable) continue;
        if (best == nullptr || room.free() > best->free() || (room.free() == best->free() && room.name < best->name))
            best = &room;
    }
    return best;
}

Emit event(const ProvisionView& view, std::string reason, std::string message, bool is_warning = false) {
    return {view.key, claim(view).metadata.uid, is_warning, std::move(reason), std::move(message)};
}

// --- facts
// ---------------------------------------------------------------------------------------------------------------

bool is_gone(const ProvisionView& view) { return !view.claim || view.claim->metadata.is_deleting(); }
bool is_of_another(const ProvisionView& view) {
    return !view.storage_class || view.storage_class->provisioner != kProvisioner;
}
bool has_grown(const ProvisionView& view) {
    return is_bound(claim(view)) && view.volume && view.storage_class->allow_volume_expansion &&
           claim(view).spec.request() > capacity_of(*view.volume);
}
bool shows_old_capacity(const ProvisionView& view) {
    if (!is_bound(claim(view)) || !view.volume) return false;
    const auto it = claim(view).status.capacity.find("storage");
    return it != claim(view).status.capacity.end() && bytes_or_zero(it->second) < capacity_of(*view.volume);
}
bool is_not_asked(const ProvisionView& view) {
    const std::string* asked = claim(view).metadata.annotation(kAskedProvisioner);
    return !claim(view).spec.volume_name.empty() || asked == nullptr || *asked != kProvisioner ||
           claim(view).spec.data_source_ref.has_value();
}
bool awaits_node(const ProvisionView& view) {
    return view.storage_class->waits_for_consumer() && selected_node(view) == nullptr;
}
bool is_made(const ProvisionView& view) { return view.volume.has_value(); }
bool has_selector(const ProvisionView& view) { return claim(view).spec.selector.has_value(); }
bool wants_sharing(const ProvisionView& view) {
    return std::ranges::any_of(claim(view).spec.access_modes, [](const std::string& mode) {
        return mode != "ReadWriteOnce" && mode != "ReadWriteOncePod";
    });
}
bool lost_its_node(const ProvisionView& view) { return selected_node(view) != nullptr && target(view) == nullptr; }
bool has_no_node(const ProvisionView& view) { return target(view) == nullptr; }
bool does_not_fit(const ProvisionView& view) { return target(view)->free() < claim(view).spec.request(); }
bool is_chosen_by_scheduler(const ProvisionView& view) { return does_not_fit(view) && selected_node(view) != nullptr; }

// --- wants
// ---------------------------------------------------------------------------------------------------------------

Plan nothing(const ProvisionView&) { return api::settled(); }

Plan refuse(const ProvisionView& view, std::string why) {
    Plan plan = api::want(event(view, "ProvisioningFailed", why, true));
    plan.wait = api::Wait{"user", view.key, std::move(why)};
    return plan;
}
Plan refuse_selector(const ProvisionView& view) {
    return refuse(view, "claim.Spec.Selector is not supported: remove it, or create a volume with these labels");
}
Plan refuse_sharing(const ProvisionView& view) {
    return refuse(
        view, "local volumes support only the access modes ReadWriteOnce and ReadWriteOncePod: ask for one of these"
    );
}
Plan refuse_no_node(const ProvisionView& view) { return refuse(view, "no node can be scheduled to: uncordon one"); }
Plan refuse_full(const ProvisionView& view) {
    return refuse(
        view,
        "no node has " + quantity_of(claim(view).spec.request()).written +
            " left for claims: delete some, or start with a larger --node-storage"
    );
}

// Only this frees the choice of the node: the scheduler notices, and picks again.
Plan reschedule(const ProvisionView& view) {
    json::Value patch = json::Object{
        {"metadata", json::Object{{"annotations", json::Object{{kSelectedNode, nullptr}}}}}
    };
    Plan plan = api::want(Patch{view.key, api::Part::object, std::move(patch), claim(view).metadata.uid});
    plan.add(event(
        view,
        "ProvisioningFailed",
        "node \"" + *selected_node(view) + "\" is gone or has no room for " +
            quantity_of(claim(view).spec.request()).written + ": the scheduler chooses again",
        true
    ));
    return plan;
}

json::Value volume_document(const ProvisionView& view, const NodeRoom& node) {
    const api::PersistentVolumeClaim& c = claim(view);
    const std::string name = volume_name_for(c.metadata.uid);
    json::Array modes, finalizers, values, terms, expressions;
    for (const std::string& mode : c.spec.access_modes) modes.push_back(json::Value(mode));
    finalizers.push_back(kFinalizer);
    values.push_back(json::Value(node.name));
    expressions.push_back(json::Object{
        {"key",      "kubernetes.io/hostname"},
        {"operator", "In"                    },
        {"values",   std::move(values)       }
    });
    terms.push_back(json::Object{
        {"matchExpressions", std::move(expressions)}
    });
    return json::Object{
        {"apiVersion", "v1"              },
        {"kind",       "PersistentVolume"},
        {"metadata",
         json::Object{
             {"name", name},
             {"annotations", json::Object{{kProvisionedBy, kProvisioner}}},
             {"finalizers", std::move(finalizers)},
         }                               },
        {"spec",
         json::Object{
             {"capacity", json::Object{{"storage", c.spec.resources.requests.at("storage").written}}},
             {"accessModes", std::move(modes)},
             {"volumeMode", c.spec.is_block() ? "Block" : "Filesystem"},
             {"storageClassName", class_of(c)},
             {"persistentVolumeReclaimPolicy",
              view.storage_class->reclaim_policy.empty() ? "Delete" : view.storage_class->reclaim_policy},
             {"claimRef", reference_to(c)},
             {"local", json::Object{{"path", volume_path(node.directory, name, c.spec.is_block())}}},
             {"nodeAffinity", json::Object{{"required", json::Object{{"nodeSelectorTerms", std::move(terms)}}}}},
         }                               },
    };
}

Plan make(const ProvisionView& view) {
    const NodeRoom& node = *target(view);
    const std::string name = volume_name_for(claim(view).metadata.uid);
    Plan plan = api::want(event(
        view,
        "Provisioning",
        "External provisioner is provisioning volume for claim \"" + claim(view).metadata.ns + "/" +
            claim(view).metadata.name + "\""
    ));
    plan.add(Effect{
        "make volume",
        name + " on " + node.name,
        json::Object{
                     {"node", node.name},
                     {"volume", name},
                     {"size", claim(view).spec.request().value},
                     {"block", claim(view).spec.is_block()}
        }
    });
    plan.add(api::Create{volume_document(view, node)});
    plan.add(event(view, "ProvisioningSucceeded", "Successfully provisioned volume " + name));
    return plan;
}

Plan grow(const ProvisionView& view) {
    const std::string node = node_of(*view.volume);
    const std::string& name = view.volume->metadata.name;
    const Quantity& wanted = claim(view).spec.resources.requests.at("storage");
    const NodeRoom* room = room_named(view, node);
    if (room == nullptr || room->free() + capacity_of(*view.volume) < claim(view).spec.request()) {
        return refuse(view, "node \"" + node + "\" has no room to grow the volume to " + wanted.written);
    }
    Plan plan = api::want(Effect{
        "grow volume",
        name + " on " + node,
        json::Object{{"node", node}, {"volume", name}, {"size", claim(view).spec.request().value}}
    });
    plan.add(Patch{
        {&api::kVolume, "", name},
        api::Part::object,
        json::Object{{"spec", json::Object{{"capacity", json::Object{{"storage", wanted.written}}}}}},
        view.volume->metadata.uid
    });
    return plan;
}

Plan show_capacity(const ProvisionView& view) {
    json::Value status = json::Object{
        {"capacity", json::Object{{"storage", view.volume->spec.capacity.at("storage").written}}}
    };
    return api::want(
        Patch{view.key, api::Part::status, json::Object{{"status", std::move(status)}}, claim(view).metadata.uid}
    );
}

constexpr api::Rule<ProvisionView> kProvisionRules[] = {
    {"K-60", "gone",                            is_gone,                    nothing        },
    {"K-60", "another-provisioners-class",      is_of_another,              nothing        },
    {"K-61", "grown-claim-grows-its-volume",    has_grown,                  grow           },
    {"K-61", "grown-volume-shows-on-its-claim", shows_old_capacity,         show_capacity  },
    {"K-60", "nobody-asked",                    is_not_asked,               nothing        },
    {"K-60", "no-node-was-chosen",              awaits_node,                nothing        },
    {"K-61", "made-already",                    is_made,                    nothing        },
    {"K-70", "selectors-are-not-for-us",        has_selector,               refuse_selector},
    {"K-70", "local-volumes-are-not-shared",    wants_sharing,              refuse_sharing },
    {"K-63", "chosen-node-is-gone",             lost_its_node,              reschedule     },
    {"K-63", "no-node-at-all",                  has_no_node,                refuse_no_node },
    {"K-63", "chosen-node-is-full",             is_chosen_by_scheduler,     reschedule     },
    {"K-63", "no-node-has-room",                does_not_fit,               refuse_full    },
    {"K-61", "volume-is-made-and-announced",    api::always<ProvisionView>, make           },
};

// --- reclaim
// -------------------------------------------------------------------------------------------------------------

bool volume_is_gone(const ReclaimView& view) { return !view.volume; }
bool is_not_ours(const ReclaimView& view) {
    const std::string* by = view.volume->metadata.annotation(kProvisionedBy);
    return by == nullptr || *by != kProvisioner;
}
bool is_released(const ReclaimView& view) {
    return view.volume->status.phase == "Released" && view.volume->spec.reclaim_policy == "Delete" &&
           !view.volume->metadata.is_deleting();
}
bool is_deleted(const ReclaimView& view) {
    return view.volume->metadata.is_deleting() && view.volume->status.phase != "Bound" &&
           view.volume->metadata.has_finalizer(kFinalizer);
}

Plan leave(const ReclaimView&) { return api::settled(); }

std::optional<Effect> remove_data(const ReclaimView& view) {
    if (!view.node_exists || view.volume->spec.reclaim_policy != "Delete") return {};
    const std::string node = node_of(*view.volume);
    return Effect{
        "delete volume",
        view.volume->metadata.name + " on " + node,
        json::Object{{"node", node}, {"volume", view.volume->metadata.name}}
    };
}

Plan remove(const ReclaimView& view) {
    Plan plan;
    if (auto effect = remove_data(view)) plan.add(std::move(*effect));
    plan.add(Delete{view.key, view.volume->metadata.uid});
    return plan;
}

Plan let_go(const ReclaimView& view) {
    Plan plan;
    if (auto effect = remove_data(view)) plan.add(std::move(*effect));
    json::Array left;
    for (const std::string& finalizer : view.volume->metadata.finalizers) {
        if (finalizer != kFinalizer) left.push_back(json::Value(finalizer));
    }
    plan.add(Patch{
        view.key,
        api::Part::object,
        json::Object{{"metadata", json::Object{{"finalizers", std::move(left)}}}},
        view.volume->metadata.uid,
        view.volume->metadata.resource_version
    });
    return plan;
}

constexpr api::Rule<ReclaimView> kReclaimRules[] = {
    {"K-64", "gone",                       volume_is_gone,           leave },
    {"K-64", "not-ours",                   is_not_ours,              leave },
    {"K-64", "released-volume-is-deleted", is_released,              remove},
    {"K-64", "deleted-volume-is-let-go",   is_deleted,               let_go},
    {"K-64", "in-use",                     api::always<ReclaimView>, leave },
};

}  // namespace

std::string volume_name_for(const Uid& claim) { return "pvc-" + claim.value; }

std::string volume_path(const std::string& node_directory, const std::string& volume, bool block) {
    return node_directory + "/volumes/" + volume + (block ? ".dev" : "");
}

std::string node_of(const api::PersistentVolume& volume) {
    if (!volume.spec.node_affinity || !volume.spec.node_affinity->required) return {};
    for (const api::NodeSelectorTerm& term : volume.spec.node_affinity->required->node_selector_terms) {
        for (const api::SelectorRequirement& requirement : term.match_expressions) {
            if (requirement.key == "kubernetes.io/hostname" && !requirement.values.empty())
                return requirement.values.front();
        }
    }
    return {};
}

api::Plan provision(const ProvisionView& view) { return api::first_match(kProvisionRules, view); }

api::Plan reclaim(const ReclaimView& view) { return api::first_match(kReclaimRules, view); }

}  // namespace berth::solo
