#include "datavolume/profile/sync.hpp"

#include "api/codec.hpp"

namespace berth::datavolume::profile {
namespace {

bool has_neither(const View& view) { return !view.storage_class && !view.profile; }
bool class_is_gone(const View& view) { return !view.storage_class; }
bool lacks_profile(const View& view) { return !view.profile; }

api::Plan nothing(const View&) { return api::settled(); }

api::Key key_of(const View& view) { return {&api::kStorageProfile, "", view.name}; }

api::Plan remove_profile(const View& view) {
    if (view.profile->metadata.is_deleting()) return api::settled();
    return api::want(api::Delete{.key = key_of(view), .uid = view.profile->metadata.uid});
}

api::Plan create_profile(const View& view) {
    const api::StorageProfile profile = resolved_profile(*view.storage_class, nullptr);
    json::Value document = api::encode(profile);
    json::set(document, "/apiVersion", json::Value(api::kStorageProfile.api_version()));
    json::set(document, "/kind", json::Value(api::kStorageProfile.kind));
    json::set(document, "/spec", json::Value(json::Object()));
    return api::want(api::Create{std::move(document)});
}

api::Plan resolve(const View& view) {
    const api::StorageProfile wanted = resolved_profile(*view.storage_class, &*view.profile);
    api::StorageProfile observed = *view.profile;
    observed.metadata = wanted.metadata;
    const auto change = api::patch_between(observed, wanted);
    if (!change) return api::settled();
    return api::want(
        api::Patch{.key = key_of(view), .part = api::Part::status, .patch = *change, .uid = view.profile->metadata.uid}
    );
}

constexpr api::Rule<View> kSync[] = {
    {"1.5", "nothing-without-a-class",       has_neither,       nothing       },
    {"1.5", "a-profile-goes-with-its-class", class_is_gone,     remove_profile},
    {"1.5", "a-class-has-a-profile",         lacks_profile,     create_profile},
    {"1.5", "its-status-says-what-is-known", api::always<View>, resolve       },
};

}  // namespace

api::Plan sync(const View& view) { return api::first_match(kSync, view); }

}  // namespace berth::datavolume::profile
