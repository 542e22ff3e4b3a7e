// Questions about a kubelet's view.
#pragma once

#include "solo/rules/kubelet/view.hpp"

namespace berth::solo::kubelet {

/// The newest attempt of a container. One that the status knows and the machine has lost has ended with 137.
std::optional<ContainerInfo> newest(const View& view, std::string_view container);
bool is_running(const View& view, std::string_view container);
/// An init container that goes on running beside the others.
bool is_sidecar(const api::Container& container);
bool is_sidecar_name(const View& view, std::string_view container);

bool is_unknown(const View& view);
bool is_gone(const View& view);
bool is_deleting(const View& view);
bool has_running(const View& view);
/// activeDeadlineSeconds have passed since the start.
bool is_past_deadline(const View& view);
/// How the pod ends: none while something of it runs on or is started again, else whether all went well.
std::optional<bool> outcome(const View& view);
bool is_over(const View& view);
bool is_over_but_runs(const View& view);
bool lacks_step(const View& view);
bool lacks_directory(const View& view);
bool lacks_volume(const View& view);

/// The next container to start, with its attempt; none: nothing is to be started.
struct Step {
    const api::Container* container = nullptr;
    std::int64_t attempt = 0;
    std::optional<Timestamp> not_before;  ///< a pause after a failure or a crash
};
std::optional<Step> next_step(const View& view);
/// The same for one container, whatever the others do.
std::optional<Step> step_of(const View& view, const api::Container& container, bool is_init);

/// 10 s doubling to 5 min, as a kubelet does for pulls and mounts.
Duration backoff(int failures);
/// The pause before an attempt of a container that crashed: none before the first restart, then 1 s doubling to 5 min.
/// 5 min at once after an exit code that the pod calls permanent.
Duration crash_backoff(const api::Pod& pod, int exit_code, std::int64_t attempt);

/// When the grace period of a pod that is over ends.
Timestamp grace_ends_at(const View& view);

/// The group that volumes are given to; none: as they are.
std::optional<std::int64_t> fs_group(const api::Pod& pod);

/// The value of a downward API field ("metadata.name", "status.podIP", …); none: not supported.
std::optional<std::string> field_value(const View& view, std::string_view path);

}  // namespace berth::solo::kubelet
