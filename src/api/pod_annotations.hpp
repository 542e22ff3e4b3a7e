// Annotations of pods that one part of Berth writes and another reads.
#pragma once

namespace berth::api {

/// An exit code that a restart alone cannot cure: after it a node of ours waits the longest back-off at once.
inline constexpr const char* kPermanentExitCode = "berth.dev/permanent-exit-code";

}  // namespace berth::api
