#include "solo/rules/storage/provisioner.hpp"

#include "api/codec.hpp"

namespace berth::solo {
namespace {

using api::Effect;
using api::Emit;
using api::Patch;
using api::Plan;

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

// --- facts ---

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
bool chosen_node_cannot(const ProvisionView& view) {
    return selected_node(view) != nullptr && view.failure && view.failure->is_final_here;
}
bool does_not_fit(const ProvisionView& view) { return target(view)->free() < claim(view).spec.request(); }
bool chosen_node_is_full(const ProvisionView& view) { return does_not_fit(view) && selected_node(view) != nullptr; }

// --- wants ---

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
Plan reschedule(const ProvisionView& view, const std::string& why) {
    json::Value annotations = json::Object{
        {kSelectedNode, nullptr}
    };
    json::Value patch = json::Object{
        {"metadata", json::Object{{"annotations", std::move(annotations)}}}
    };
    Plan plan = api::want(Patch{view.key, api::Part::object, std::move(patch), claim(view).metadata.uid});
    plan.add(event(view, "ProvisioningFailed", why + ": the scheduler chooses again", true));
    return plan;
}
Plan reschedule_from_lost_node(const ProvisionView& view) {
    return reschedule(view, "node \"" + *selected_node(view) + "\" does not exist");
}
Plan reschedule_from_failing_node(const ProvisionView& view) { return reschedule(view, view.failure->message); }
Plan reschedule_from_full_node(const ProvisionView& view) {
    const std::string size = quantity_of(claim(view).spec.request()).written;
    return reschedule(view, "node \"" + *selected_node(view) + "\" has no room for " + size);
}

// As it was written.
std::string size_of(const api::PersistentVolumeClaim& c) {
    const auto it = c.spec.resources.requests.find("storage");
    return it == c.spec.resources.requests.end() ? "0" : it->second.written;
}

json::Value volume_document(const ProvisionView& view, const NodeRoom& node) {
    const api::PersistentVolumeClaim& c = claim(view);
    const std::string name = volume_name_for(c.metadata.uid);
    json::Array modes, finalizers, values, terms, expressions;
    for (const std::string& mode : c.spec.access_modes) modes.push_back(json::Value(mode));
    finalizers.push_back(kProvisionerFinalizer);
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
             {"capacity", json::Object{{"storage", size_of(c)}}},
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
    Plan plan;
    if (view.failure) plan.add(event(view, "ProvisioningFailed", view.failure->message, true));
    json::Object args{
        {"node",   node.name                       },
        {"volume", name                            },
        {"size",   claim(view).spec.request().value},
        {"block",  claim(view).spec.is_block()     },
    };
    plan.add(Effect{"make volume", name + " on " + node.name, std::move(args)});
    plan.add(api::Create{volume_document(view, node)});
    plan.add(event(view, "ProvisioningSucceeded", "Successfully provisioned volume " + name));
    return plan;
}

Plan grow(const ProvisionView& view) {
    const std::string node = node_of(*view.volume);
    const std::string& name = view.volume->metadata.name;
    const std::string wanted = size_of(claim(view));
    const NodeRoom* room = room_named(view, node);
    if (room == nullptr || room->free() + capacity_of(*view.volume) < claim(view).spec.request()) {
        return refuse(view, "node \"" + node + "\" has no room to grow the volume to " + wanted);
    }
    Plan plan = api::want(Effect{
        "grow volume",
        name + " on " + node,
        json::Object{{"node", node}, {"volume", name}, {"size", claim(view).spec.request().value}}
    });
    plan.add(Patch{
        {&api::kVolume, "", name},
        api::Part::object,
        json::Object{{"spec", json::Object{{"capacity", json::Object{{"storage", wanted}}}}}},
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
    {"K-60", "gone",                            is_gone,                    nothing                     },
    {"K-60", "another-provisioners-class",      is_of_another,              nothing                     },
    {"K-61", "grown-claim-grows-its-volume",    has_grown,                  grow                        },
    {"K-61", "grown-volume-shows-on-its-claim", shows_old_capacity,         show_capacity               },
    {"K-60", "nobody-asked",                    is_not_asked,               nothing                     },
    {"K-60", "no-node-was-chosen",              awaits_node,                nothing                     },
    {"K-61", "made-already",                    is_made,                    nothing                     },
    {"K-70", "selectors-are-not-for-us",        has_selector,               refuse_selector             },
    {"K-70", "local-volumes-are-not-shared",    wants_sharing,              refuse_sharing              },
    {"K-63", "chosen-node-is-gone",             lost_its_node,              reschedule_from_lost_node   },
    {"K-63", "chosen-node-cannot",              chosen_node_cannot,         reschedule_from_failing_node},
    {"K-63", "no-node-at-all",                  has_no_node,                refuse_no_node              },
    {"K-63", "chosen-node-is-full",             chosen_node_is_full,        reschedule_from_full_node   },
    {"K-63", "no-node-has-room",                does_not_fit,               refuse_full                 },
    {"K-61", "volume-is-made-and-announced",    api::always<ProvisionView>, make                        },
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

}  // namespace berth::solo
