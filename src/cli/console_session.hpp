// A connection to a machine's serial console, for people and for programs.
#pragma once

#include "cli/client.hpp"

namespace berth::cli {

/// What an absent machine means: a wrong name, or one that is still to come.
enum class Absent { fails, waits };

/// Opens the console; while the machine is not running yet, asks again until `patience` is over.
/// Errors  timeout: it did not come to run; not_found, forbidden, unavailable
Task<Result<std::unique_ptr<kube::Duplex>>> open_console(Client& client, std::string vmi, Duration patience, Absent absent = Absent::fails);

}  // namespace berth::cli
