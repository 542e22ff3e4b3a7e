// What the flow of a claim that a worker fills may look at.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/core.hpp"
#include "datavolume/settings.hpp"

namespace berth::datavolume::import {

/// A pod that names the claim and has not ended; the worker itself does not count.
struct Use {
    std::string pod;
    bool is_provisioning = false;  ///< a provisioning pod: it binds the claim and goes
    bool operator==(const Use&) const = default;
};

struct View {
    Timestamp now;
    api::PersistentVolumeClaim claim;
    std::optional<api::Pod> pod;  ///< under the worker's name, whoever made it
    std::vector<Use> users;       ///< in order of name
    Settings settings;
    std::optional<std::string> failed_create;  ///< the answer to the last try to create the pod
};

}  // namespace berth::datavolume::import
