// The body of addvolume and removevolume: AddVolumeOptions and RemoveVolumeOptions, read and brought into one form.
// Contract: docs/spec/hotplug.md 2.3, 2.6
#pragma once

#include <optional>
#include <string>

#include "api/kubevirt.hpp"

namespace berth::hotplug {

struct Options {
    std::string name;
    std::optional<api::Disk> disk;  ///< its name is the volume's
    bool has_source = false;        ///< the body has a volumeSource, be it empty
    api::VmVolume volume;           ///< the volume to be: named, its source marked hotpluggable
    std::vector<std::string> dry_run;

    [[nodiscard]] bool names_two_sources() const;
    /// The claim or DataVolume.
    [[nodiscard]] std::string source() const { return volume.claim_name(); }
    /// A run that stores nothing was asked for.
    [[nodiscard]] bool is_dry_run() const { return !dry_run.empty(); }
};

/// `body` is null when the request has none: the same as an empty object. Unknown fields are left out.
/// Errors  invalid: a field of the wrong type, an unknown dryRun
Result<Options> read_options(const json::Value& body);

}  // namespace berth::hotplug
