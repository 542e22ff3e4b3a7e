// A container's log as `kubectl logs` wants it, read from the file that conmon writes (the CRI format).
// Source: docs/spec/kube-api.md 2.29.1
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "kube/transport.hpp"

namespace berth::solo {

struct LogWishes {
    bool follow = false;
    bool timestamps = false;
    std::optional<std::int64_t> tail_lines;
    std::optional<std::int64_t> limit_bytes;
    std::optional<Timestamp> since;
};

/// The lines of a CRI log as a reader wants them; `rest` keeps what is not a whole line yet. Pure.
/// Partial lines ("P") are joined with what follows. `tail_lines` and `limit_bytes` are not applied here.
std::string render_log(std::string_view cri, const LogWishes& wishes, std::string& rest);

/// The last `count` lines of a rendered text.
std::string last_lines(std::string_view text, std::int64_t count);

/// Opens a log. With `follow` the stream goes on until `has_ended` holds and everything was read; it is asked after
/// each change in the log's directory or in `exits`, never by a timer.
/// Errors  not_found: no such file; io
Result<std::unique_ptr<kube::ByteStream>> open_pod_log(
    Executor executor,
    const std::string& path,
    const std::string& exits,
    LogWishes wishes,
    std::function<bool()> has_ended
);

}  // namespace berth::solo
