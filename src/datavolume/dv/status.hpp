// The whole status of a DataVolume, computed from a view, and the events that tell of its changes.
// Contract: docs/spec/datavolumes.md 1.4, 2.6, 2.7, 2.11
#pragma once

#include "api/plan.hpp"
#include "datavolume/dv/view.hpp"

namespace berth::datavolume::dv {

api::DataVolumeStatus status_of(const View& view);

/// Adds the status patch, if the status differs, and the events of the difference.
api::Plan with_report(api::Plan plan, const View& view);

api::Key key_of(const api::DataVolume& dv);
api::Key claim_key(const api::DataVolume& dv);

}  // namespace berth::datavolume::dv
