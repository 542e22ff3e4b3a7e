// What an operator can set, as one value: feature gates, overhead, worker resources. Read live from CDI and CDIConfig.
// Contract: docs/spec/datavolumes.md 1.6
#pragma once

#include <map>
#include <string>

#include "datavolume/size.hpp"
#include "json/value.hpp"

namespace berth::datavolume {

struct Settings {
    bool honors_first_consumer = true;  ///< gate HonorWaitForFirstConsumer
    bool adopts_claims = false;         ///< gate DataVolumeClaimAdoption
    bool preallocates = false;
    Overhead overhead;
    std::map<std::string, Overhead> class_overhead;
    json::Value worker_resources;  ///< of a container
    bool operator==(const Settings&) const = default;

    [[nodiscard]] Overhead overhead_of(const std::string& storage_class) const;
};

/// Either document may be missing. A list of gates that is there must name HonorWaitForFirstConsumer for it to be on:
/// in CDI's spec.config and in CDIConfig's spec alike, so that clearing one of them is enough to turn it off.
Settings read_settings(const json::Value* cdi, const json::Value* cdi_config);

}  // namespace berth::datavolume
