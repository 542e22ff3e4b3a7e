#include <set>

#include "base/ranges.hpp"
#include "solo/rules/housekeeping/housekeeping.hpp"

namespace berth::solo {
namespace {

using api::Delete;
using api::Patch;
using api::Plan;

const api::ObjectMeta& meta(const GarbageView& view) { return *view.object; }

bool is_gone(const GarbageView& view) { return !view.object; }
bool is_orphaning(const GarbageView& view) { return meta(view).is_deleting() && meta(view).has_finalizer("orphan"); }
bool is_foreground(const GarbageView& view) {
    return meta(view).is_deleting() && meta(view).has_finalizer("foregroundDeletion");
}
bool is_deleting(const GarbageView& view) { return meta(view).is_deleting(); }
bool has_no_owner_left(const GarbageView& view) {
    return !view.owner_exists.empty() && !contains(view.owner_exists, true);
}
bool has_dangling_owner(const GarbageView& view) { return contains(view.owner_exists, false); }

Plan nothing(const GarbageView&) { return api::settled(); }

json::Array finalizers_without(const api::ObjectMeta& object, std::string_view finalizer) {
    json::Array left;
    for (const std::string& name : object.finalizers) {
        if (name != finalizer) left.push_back(json::Value(name));
    }
    return left;
}

Plan drop_finalizer(const GarbageView& view, Plan plan, std::string_view finalizer) {
    plan.add(Patch{
        view.key,
        api::Part::object,
        json::Object{{"metadata", json::Object{{"finalizers", finalizers_without(meta(view), finalizer)}}}},
        meta(view).uid,
        meta(view).resource_version
    });
    return plan;
}

json::Array owners_without(const api::ObjectMeta& object, const std::set<Uid>& gone) {
    json::Array left;
    for (const api::OwnerReference& owner : object.owner_references) {
        if (gone.contains(owner.uid)) continue;
        json::Object reference{
            {"apiVersion", owner.api_version},
            {"kind",       owner.kind       },
            {"name",       owner.name       },
            {"uid",        owner.uid.value  }
        };
        if (owner.controller) reference["controller"] = true;
        if (owner.block_owner_deletion) reference["blockOwnerDeletion"] = true;
        left.push_back(std::move(reference));
    }
    return left;
}

Patch patch_owners(const api::Key& key, const api::ObjectMeta& object, const std::set<Uid>& gone) {
    return {
        key,
        api::Part::object,
        json::Object{{"metadata", json::Object{{"ownerReferences", owners_without(object, gone)}}}},
        object.uid,
        object.resource_version
    };
}

Plan orphan(const GarbageView& view) {
    Plan plan;
    for (const auto& [key, object] : view.dependents) plan.add(patch_owners(key, object, {meta(view).uid}));
    return drop_finalizer(view, std::move(plan), "orphan");
}

// Foreground: dependents go first, those that block are waited for.
Plan delete_dependents_first(const GarbageView& view) {
    Plan plan;
    bool blocks = false;
    for (const auto& [key, object] : view.dependents) {
        const auto reference = std::ranges::find(object.owner_references, meta(view).uid, &api::OwnerReference::uid);
        blocks = blocks || (reference != object.owner_references.end() && reference->block_owner_deletion);
        if (!object.is_deleting()) plan.add(Delete{key, object.uid, {}, "Foreground"});
    }
    if (blocks) {
        plan.wait = api::Wait{"dependents", view.key, "objects it owns are being deleted first"};
        return plan;
    }
    return drop_finalizer(view, std::move(plan), "foregroundDeletion");
}

Plan remove(const GarbageView& view) { return api::want(Delete{view.key, meta(view).uid}); }

Plan forget_gone_owners(const GarbageView& view) {
    std::set<Uid> gone;
    for (std::size_t i = 0; i < view.owner_exists.size(); ++i) {
        if (!view.owner_exists[i]) gone.insert(meta(view).owner_references[i].uid);
    }
    return api::want(patch_owners(view.key, meta(view), gone));
}

constexpr api::Rule<GarbageView> kRules[] = {
    {"K-96", "gone",                                  is_gone,                  nothing                },
    {"K-96", "orphaning-owner-lets-dependents-live",  is_orphaning,             orphan                 },
    {"K-96", "foreground-owner-waits-for-dependents", is_foreground,            delete_dependents_first},
    {"K-96", "deleted-already",                       is_deleting,              nothing                },
    {"K-96", "nobody-owns-it-any-more",               has_no_owner_left,        remove                 },
    {"K-96", "one-of-its-owners-is-gone",             has_dangling_owner,       forget_gone_owners     },
    {"K-96", "owned",                                 api::always<GarbageView>, nothing                },
};

}  // namespace

api::Plan collect(const GarbageView& view) { return api::first_match(kRules, view); }

}  // namespace berth::solo
