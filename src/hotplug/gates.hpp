// Which ways of plugging volumes an installation offers, read from its KubeVirt object.
// Contract: docs/spec/hotplug.md 2.1
#pragma once

#include "json/value.hpp"

namespace berth::hotplug {

struct Gates {
    bool legacy = false;       ///< HotplugVolumes: requests are queued in the VM's status. Wins over `declarative`.
    bool declarative = true;   ///< DeclarativeHotplugVolumes: the VM's template is what counts
    bool utility = false;      ///< UtilityVolumes
    bool reservation = false;  ///< PersistentReservation
    bool operator==(const Gates&) const = default;

    /// What the VM loop does: keep the running machine like its template.
    [[nodiscard]] bool follows_template() const { return declarative && !legacy; }
};

/// nullptr: an installation without settings.
Gates gates_of(const json::Value* kubevirt);

}  // namespace berth::hotplug
