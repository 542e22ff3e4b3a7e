// Port and protocol between a node's agent and the launcher inside a VM pod: JSON lines on a unix socket.
// The launcher keeps no decision: it does what the last Sync said and reports what libvirt shows.
//
//   agent → launcher   {"v":1,"op":"hello","podUid":…}            first line; the launcher answers with a report
//                      {"v":1,"op":"sync","vmi":{…},"volumes":[…]}   desired machine; sent on every change
//                      {"v":1,"op":"shutdown"} / {"v":1,"op":"destroy"}
//   launcher → agent   {"v":1,"op":"report", …Report}              after hello, each sync, and on every change
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/task.hpp"
#include "base/result.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "json/value.hpp"

namespace berth::agent {

/// A disk as the launcher finds it inside its pod.
struct VolumePath {
    std::string name;  ///< volume name
    std::string path;  ///< "/var/run/kubevirt-private/vmi-disks/root/disk.img", "/dev/root"
    bool block = false;
    std::string format = "raw";
    bool read_only = false;
    bool create_if_absent = false;  ///< a claim that no DataVolume filled: make a sparse disk.img
    std::int64_t size = 0;          ///< bytes, for create_if_absent
    bool operator==(const VolumePath&) const = default;
};

struct DiskReport {
    std::string name;
    std::string target;  ///< "vda"
    std::int64_t size = 0;
    bool operator==(const DiskReport&) const = default;
};

/// A disk that was taken out of the machine and that its guest has not let go yet.
struct Detaching {
    std::string name;
    Timestamp since;            ///< of the first request
    std::int64_t requests = 0;  ///< how often the guest was asked
    bool operator==(const Detaching&) const = default;
};

/// Why one plugged disk is not in the guest; the others are not touched by it.
struct DiskError {
    std::string name;
    std::string message;
    bool operator==(const DiskError&) const = default;
};

/// What libvirt shows.
struct Report {
    std::string state;   ///< "" (no domain yet), "starting", "running", "paused", "shutoff", "crashed"
    std::string reason;  ///< for shutoff: "guest" (it powered off), "destroyed", "shutdown" (we asked), "failed"
    std::string error;   ///< why the last sync could not be done, with how to fix it
    std::vector<DiskReport> disks;  ///< those with a medium, plugged ones included
    std::vector<Detaching> detaching;
    std::vector<DiskError> disk_errors;
    /// Plugged volumes that it was last told of, and those that an operation still works on: none of them may be taken
    /// from under it, whatever `disks` says.
    std::vector<std::string> told;
    std::int64_t syncs = 0;  ///< of this connection, how many it has taken over; older words may still be in the report
    std::string machine_type;
    std::string accelerator;  ///< "kvm", "tcg"
    bool operator==(const Report&) const = default;
};

json::Value to_json(const Report& report);
Result<Report> report_from(const json::Value& line);
json::Value to_json(const VolumePath& path);
Result<VolumePath> volume_path_from(const json::Value& value);

/// One connection to one launcher.
class Link {
public:
    virtual ~Link() = default;
    /// The next report; none when the connection ended (the caller connects again).
    virtual Task<std::optional<Report>> next() = 0;
    virtual Task<Result<void>> sync(json::Value vmi, std::vector<VolumePath> volumes) = 0;
    virtual Task<Result<void>> shutdown() = 0;
    virtual Task<Result<void>> destroy() = 0;
};

class Connector {
public:
    virtual ~Connector() = default;
    /// Connects to the launcher of a pod by its socket in the pod's directory; checks peer and pod UID.
    /// Errors  unavailable: no socket yet, or nobody listens
    virtual Task<Result<std::unique_ptr<Link>>> connect(Uid pod) = 0;
};

}  // namespace berth::agent
