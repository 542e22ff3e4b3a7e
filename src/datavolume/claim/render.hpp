// The claim of a DataVolume: `pvc` as it stands, `storage` completed by class, profile, overhead and defaults.
// Contract: docs/spec/datavolumes.md 2.4
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "datavolume/claim/profile.hpp"
#include "datavolume/settings.hpp"

namespace berth::datavolume {

struct RenderInput {
    ClaimForm form = ClaimForm::pvc;
    json::Value document;  ///< spec.pvc or spec.storage as written
    api::ClaimSpec spec;   ///< the same, typed
    bool is_archive = false;
    std::optional<api::StorageClass> storage_class;  ///< what choose_class() found
    std::optional<api::StorageProfile> profile;      ///< of that class
    std::vector<api::PersistentVolume> volumes;      ///< available ones that name a class which does not exist
    Settings settings;
    bool operator==(const RenderInput&) const = default;
};

/// Why there can be no claim yet. It is looked at again when classes, profiles, volumes or settings change.
struct Unrenderable {
    std::string message;
    bool operator==(const Unrenderable&) const = default;
};

/// The spec of the claim to create.
std::expected<json::Value, Unrenderable> render_claim(const RenderInput& input);

}  // namespace berth::datavolume
