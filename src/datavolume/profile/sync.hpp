// One pass over a StorageProfile: there is one for each StorageClass, with what we know of it.
// Contract: docs/spec/datavolumes.md 1.5
#pragma once

#include "api/plan.hpp"
#include "datavolume/claim/profile.hpp"

namespace berth::datavolume::profile {

struct View {
    std::string name;
    std::optional<api::StorageClass> storage_class;
    std::optional<api::StorageProfile> profile;
};

api::Plan sync(const View& view);

}  // namespace berth::datavolume::profile
