// Questions about a kubelet's view.
#pragma once

#include "solo/rules/kubelet/view.hpp"

namespace berth::solo::kubelet {

/// The newest attempt of a container, or nullptr.
const ContainerInfo* newest(const View& view, std::string_view container);
bool is_running(const View& view, std::string_view container);
/// An init container that goes on running beside the others.
bool is_sidecar(const api::Container& container);

bool is_gone(const View& view);
bool is_deleting(const View& view);
bool is_terminal(const View& view);
bool lacks_directory(const View& view);
bool lacks_volume(const View& view);
bool has_step(const View& view);

/// The next container to start, with its attempt; none: nothing is to be started now.
struct Step {
    const api::Container* container = nullptr;
    std::int64_t attempt = 0;
    std::optional<Timestamp> not_before;  ///< a backoff
};
std::optional<Step> next_step(const View& view);

/// 10 s doubling to 5 min, as a kubelet does for restarts and pulls.
Duration backoff(int failures);

/// The group that volumes are given to; none: as they are.
std::optional<std::int64_t> fs_group(const api::Pod& pod);

}  // namespace berth::solo::kubelet
