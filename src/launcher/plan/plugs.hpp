// What is to be done for each plugged disk of a running guest: attach, detach, another medium, a larger size. Every
// disk is decided on its own (one table, plugs.cpp), so none waits for another. Contract: docs/spec/hotplug.md 8
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "launcher/plan/disks.hpp"
#include "launcher/plan/live.hpp"

namespace berth::launcher {

/// A guest was asked to let a disk go. It may take its time, or forget it.
struct Asked {
    Timestamp since;
    Timestamp last;
    std::int64_t requests = 0;
    bool operator==(const Asked&) const = default;
};

/// What did not work for a disk, and when it is tried again.
struct Failure {
    std::string message;
    Timestamp again_at;
    Duration pause{};  ///< the last one
    bool operator==(const Failure&) const = default;
};

/// What was asked and told so far. Of everything else libvirt is the memory.
struct PlugMemory {
    std::map<std::string, Asked> asked;         ///< by disk
    std::map<std::string, std::int64_t> sizes;  ///< by disk: the claim's size when it was last acted on
    bool operator==(const PlugMemory&) const = default;
};

/// The text of the record that a launcher leaves to the next one of its pod.
std::string print(const PlugMemory& memory);
/// A damaged record is none: the guest is asked once more, and a growth during that time is not seen.
PlugMemory plug_memory_from(std::string_view text);

struct PlugView {
    std::vector<MachineDisk> desired;
    std::vector<LiveDisk> live;
    std::set<std::string> busy;     ///< disks that a call is under way for
    std::set<std::string> unready;  ///< their file or device did not open; nothing has changed since
    std::map<std::string, Failure> failures;
    PlugMemory memory;
    Timestamp now;
};

enum class Act { attach, detach, change_medium, grow };

struct Operation {
    Act act = Act::attach;
    MachineDisk disk;  ///< attach, change_medium, grow; without a path: the drive's medium leaves
    LiveDisk live;     ///< detach, change_medium, grow
    bool operator==(const Operation&) const = default;
};

struct PlugPlan {
    std::map<std::string, std::string_view> rules;  ///< by disk: the line that decided
    std::vector<Operation> operations;              ///< at most one for a disk
    std::vector<agent::Detaching> detaching;
    std::vector<agent::DiskError> errors;
    std::map<std::string, Failure> failures;  ///< those that still matter
    PlugMemory memory;                        ///< as it is to be from now on
    std::optional<Timestamp> look_again_at;
};

PlugPlan plan_plugs(const PlugView& view);

constexpr Duration kAskGuestAgainAfter = std::chrono::seconds(5);

/// The failure that follows on `before` (none: the first).
Failure failure_after(const Failure* before, std::string message, Timestamp now);

/// libvirt's words, with what a person can do about it.
std::string explain_attach_error(const MachineDisk& disk, std::string_view said);

/// What the pod shows of a disk's file or device.
struct SourceFacts {
    bool is_device = false;
    bool opens = false;  ///< a file that is written: for reading and writing; else for reading
    bool takes_direct_io = false;
    std::int64_t size = 0;    ///< bytes
    std::int64_t usable = 0;  ///< bytes that the file system has in all; 0: not known
};

/// An empty file is the place for a mount that has not come (hotplug.md 8.3, R-31).
bool is_ready(const MachineDisk& disk, const SourceFacts& facts);

/// Bytes that the guest is to see of a claim that grew (hotplug.md 8.4).
std::int64_t grown_size(const MachineDisk& disk, const SourceFacts& facts);

/// The device of a hotplug: like at boot, without a boot order.
/// Errors  invalid: the disk asks for what its storage cannot give
Result<std::string> attach_xml(const MachineDisk& disk, const SourceFacts& facts);
/// The drive with its medium, or with none. Says nothing of caching: that is the drive's, and cannot change.
std::string medium_xml(const MachineDisk& disk, const LiveDisk& drive);

}  // namespace berth::launcher
