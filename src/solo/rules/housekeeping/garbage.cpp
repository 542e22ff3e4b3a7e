// What becomes of objects whose owners go: background, foreground, orphaned. Source: docs/spec/kube-api.md 2.13
#include <set>

#include "base/ranges.hpp"
#include "solo/rules/housekeeping/housekeeping.hpp"

namespace berth::solo {
namespace {

using api::Delete;
using api::Patch;
using api::Plan;

const api::ObjectMeta& meta(const GarbageView& view) { return *view.object; }

// --- facts ---

bool is_gone(const GarbageView& view) { return !view.object; }
bool is_orphaning(const GarbageView& view) { return meta(view).is_deleting() && meta(view).has_finalizer("orphan"); }
bool is_foreground(const GarbageView& view) {
    return meta(view).is_deleting() && meta(view).has_finalizer("foregroundDeletion");
}
bool is_deleting(const GarbageView& view) { return meta(view).is_deleting(); }
bool has_unfound_owner(const GarbageView& view) { return contains(view.owners, Owner::unfound); }
bool has_no_owner_left(const GarbageView& view) {
    return !view.owners.empty() && std::ranges::all_of(view.owners, [](Owner owner) { return owner == Owner::absent; });
}
bool has_absent_owner(const GarbageView& view) { return contains(view.owners, Owner::absent); }

// --- wants ---

Plan nothing(const GarbageView&) { return api::settled(); }

void drop_finalizer(const GarbageView& view, std::string_view finalizer, Plan& plan) {
    json::Array left;
    for (const std::string& name : meta(view).finalizers) {
        if (name != finalizer) left.push_back(json::Value(name));
    }
    json::Value patch = json::Object{
        {"metadata", json::Object{{"finalizers", std::move(left)}}}
    };
    plan.add(Patch{view.key, api::Part::object, std::move(patch), meta(view).uid, meta(view).resource_version});
}

json::Object reference(const api::OwnerReference& owner) {
    json::Object out{
        {"apiVersion", owner.api_version},
        {"kind",       owner.kind       },
        {"name",       owner.name       },
        {"uid",        owner.uid.value  }
    };
    if (owner.controller) out["controller"] = true;
    if (owner.block_owner_deletion) out["blockOwnerDeletion"] = true;
    return out;
}

Patch without_owners(const api::Key& key, const api::ObjectMeta& object, const std::set<Uid>& gone) {
    json::Array left;
    for (const api::OwnerReference& owner : object.owner_references) {
        if (!gone.contains(owner.uid)) left.push_back(reference(owner));
    }
    json::Value patch = json::Object{
        {"metadata", json::Object{{"ownerReferences", std::move(left)}}}
    };
    return {key, api::Part::object, std::move(patch), object.uid, object.resource_version};
}

bool blocks(const Dependent& dependent, const Uid& owner) {
    const auto& references = dependent.meta.owner_references;
    const auto it = std::ranges::find(references, owner, &api::OwnerReference::uid);
    return it != references.end() && it->block_owner_deletion;
}

Plan orphan(const GarbageView& view) {
    Plan plan;
    for (const Dependent& one : view.dependents) plan.add(without_owners(one.key, one.meta, {meta(view).uid}));
    drop_finalizer(view, "orphan", plan);
    return plan;
}

// Dependents go first; those that block are waited for. One that others own too only forgets this owner.
Plan delete_dependents_first(const GarbageView& view) {
    Plan plan;
    int blocking = 0;
    for (const Dependent& one : view.dependents) {
        if (one.has_other_owner) {
            plan.add(without_owners(one.key, one.meta, {meta(view).uid}));
            continue;
        }
        if (blocks(one, meta(view).uid)) ++blocking;
        if (!one.meta.is_deleting())
            plan.add(Delete{one.key, one.meta.uid, {}, one.has_dependents ? "Foreground" : "Background"});
    }
    if (blocking > 0) {
        plan.wait =
            api::Wait{"dependents", view.key, std::to_string(blocking) + " objects it owns are being deleted first"};
        return plan;
    }
    drop_finalizer(view, "foregroundDeletion", plan);
    return plan;
}

Plan look_for_owners(const GarbageView& view) {
    json::Array owners;
    for (std::size_t i = 0; i < view.owners.size(); ++i) {
        if (view.owners[i] == Owner::unfound) owners.push_back(reference(meta(view).owner_references[i]));
    }
    json::Object args{
        {"namespace", view.key.ns      },
        {"owners",    std::move(owners)}
    };
    return api::want(api::Effect{"look for owners", api::print(view.key), std::move(args)});
}

Plan remove(const GarbageView& view) { return api::want(Delete{view.key, meta(view).uid}); }

Plan forget_gone_owners(const GarbageView& view) {
    std::set<Uid> gone;
    for (std::size_t i = 0; i < view.owners.size(); ++i) {
        if (view.owners[i] == Owner::absent) gone.insert(meta(view).owner_references[i].uid);
    }
    return api::want(without_owners(view.key, meta(view), gone));
}

constexpr api::Rule<GarbageView> kRules[] = {
    {"K-96", "gone",                                  is_gone,                  nothing                },
    {"K-96", "orphaning-owner-lets-dependents-live",  is_orphaning,             orphan                 },
    {"K-96", "foreground-owner-waits-for-dependents", is_foreground,            delete_dependents_first},
    {"K-96", "deleted-already",                       is_deleting,              nothing                },
    {"K-96", "owners-are-looked-for",                 has_unfound_owner,        look_for_owners        },
    {"K-96", "nobody-owns-it-any-more",               has_no_owner_left,        remove                 },
    {"K-96", "one-of-its-owners-is-gone",             has_absent_owner,         forget_gone_owners     },
    {"K-96", "owned",                                 api::always<GarbageView>, nothing                },
};

}  // namespace

api::Plan collect(const GarbageView& view) { return api::first_match(kRules, view); }

}  // namespace berth::solo
