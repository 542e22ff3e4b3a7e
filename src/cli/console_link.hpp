// The serial console of a running machine over the API server's WebSocket: opened once the machine runs.
#pragma once

#include <memory>
#include <string>

#include "base/async/clock.hpp"
#include "kube/http/client.hpp"

namespace berth::cli {

/// Opens the console of a machine instance. While the server answers 400 (not running yet) it asks again every second.
/// Errors  timeout: not running after `patience`, with the server's last word; otherwise as the server refuses
Task<Result<std::unique_ptr<kube::Duplex>>> open_console(
    kube::http::Client& http, Clock& clock, std::string ns, std::string name, Duration patience
);

}  // namespace berth::cli
