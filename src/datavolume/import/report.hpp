// What a worker's pod has come to, as annotations on the claim it fills. Contract: docs/spec/datavolumes.md 1.8, 2.9
#pragma once

#include <map>
#include <string>

#include "api/plan.hpp"
#include "datavolume/import/view.hpp"

namespace berth::datavolume::import {

/// A retry that ends sooner than this still shows why the one before it ended.
inline constexpr Duration kSettlingTime = std::chrono::seconds(10);

/// The annotations that follow from the pod. A key that is not in it is left as it is.
std::map<std::string, std::string> report_of(const View& view);
std::map<std::string, std::string> success_report(const View& view);
std::map<std::string, std::string> mismatch_report(const View& view);

/// Texts that mean "too small" in one sentence; others as they are.
std::string simplified(const std::string& message);

/// Adds the patch of what differs; false when nothing does. `labels` are added where the claim has no such label.
bool add_patch(
    api::Plan& plan,
    const View& view,
    const std::map<std::string, std::string>& annotations,
    const std::map<std::string, std::string>& labels = {}
);

}  // namespace berth::datavolume::import
