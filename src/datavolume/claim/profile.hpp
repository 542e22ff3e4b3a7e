// Which StorageClass a DataVolume means, and what its profile says about access and volume modes.
// Contract: docs/spec/datavolumes.md 1.5, 1.6, 2.4
#pragma once

#include <string>
#include <vector>

#include "api/cdi.hpp"

namespace berth::datavolume {

/// How a DataVolume states its claim: verbatim, or in terms that are completed.
enum class ClaimForm { pvc, storage };

/// The class by name, or the default one when `name` is none (for storage and disks the virtualization default first);
/// nullptr when there is no such class.
const api::StorageClass* choose_class(
    const std::optional<std::string>& name,
    ClaimForm form,
    bool is_archive,
    const std::vector<const api::StorageClass*>& classes
);

/// The sets of a profile; without any, those known for the provisioner; else empty.
std::vector<api::ClaimPropertySet> property_sets(const api::StorageProfile* profile, const std::string& provisioner);

/// The profile of a class as it should be: status and name computed, spec kept.
api::StorageProfile resolved_profile(const api::StorageClass& storage_class, const api::StorageProfile* observed);

}  // namespace berth::datavolume
