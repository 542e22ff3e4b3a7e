// The controllers of DataVolumes: what fills their views from the caches, and what wakes them.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "kube/engine.hpp"

namespace berth::controllers {

/// How far the worker of a claim has come ("37.52%"); none when nobody has said so. Asked while a disk is being filled.
using ProgressSource = std::function<std::optional<std::string>(const Uid& claim)>;

/// Adds three controllers: DataVolumes, the claims that workers fill, and StorageProfiles.
void add_datavolume_controllers(kube::Engine& engine, ProgressSource progress = {});

}  // namespace berth::controllers
