// What the flow of a DataVolume may look at.
#pragma once

#include <optional>
#include <string>

#include "api/cdi.hpp"
#include "datavolume/claim/render.hpp"

namespace berth::datavolume::dv {

/// The create that failed at the last pass.
struct FailedCreate {
    std::string message;
    bool operator==(const FailedCreate&) const = default;
};

struct View {
    Timestamp now;
    api::DataVolume dv;
    std::optional<api::PersistentVolumeClaim> claim;  ///< of the DataVolume's name, whoever made it
    std::optional<api::StorageClass> claim_class;     ///< the class that claim names
    RenderInput render;                               ///< what a claim would be made from
    Settings settings;
    std::optional<FailedCreate> failed_create;
    std::optional<std::string> progress;  ///< the worker's own figure, "37.52%"
};

}  // namespace berth::datavolume::dv
