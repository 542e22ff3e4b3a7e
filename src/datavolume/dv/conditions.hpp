// Bound, Ready and Running of a DataVolume. Contract: docs/spec/datavolumes.md 1.4
#pragma once

#include <string>
#include <vector>

#include "datavolume/dv/view.hpp"

namespace berth::datavolume::dv {

/// Why a DataVolume cannot go on, when that is not to be read from its claim.
struct Objection {
    enum class On { claim, worker } on = On::claim;  ///< Bound and Ready, or Running
    std::string reason;
    std::string message;
};

std::optional<Objection> objection_of(const View& view);

std::vector<api::Condition> conditions_of(const View& view, const std::string& phase);

}  // namespace berth::datavolume::dv
