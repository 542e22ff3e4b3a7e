// Why a DataVolume is refused. What the schema checks (types, required fields, lists of values) is not said again here.
// Contract: docs/spec/datavolumes.md 6
#pragma once

#include <string>
#include <vector>

#include "api/cause.hpp"
#include "api/cdi.hpp"

namespace berth::datavolume {

/// `old` is nullptr on create. A change of metadata or status, or of an object that is being deleted, is always
/// accepted: rules may have become stricter since it was made.
std::vector<api::Cause> validate(const json::Value& dv, const json::Value* old);

/// On create: a claim of the DataVolume's name that is not for it. `adopts_claims` is the feature gate.
std::vector<api::Cause> validate_beside(
    const json::Value& dv, const api::PersistentVolumeClaim& claim, bool adopts_claims
);

/// Source, source reference and content type. `field` is where the spec stands: "spec".
std::vector<api::Cause> validate_source(const api::DataVolumeSpec& spec, const std::string& field);

enum class Stated { verbatim, rendered };  ///< spec.pvc, spec.storage
/// The half that states the claim. `field` is where it stands: "spec.pvc".
std::vector<api::Cause> validate_claim(
    const api::DataVolumeSpec& spec, const api::ClaimSpec& claim, Stated stated, const std::string& field
);

/// What is wrong, in one sentence; "" when nothing is.
std::string url_fault(const std::string& url);
std::string checksum_fault(const std::string& checksum);

}  // namespace berth::datavolume
