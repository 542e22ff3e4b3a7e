// Port: the plugged volumes of one node. The files and devices that lie in the hotplug-disks folder of a launcher pod.
// Contract: docs/spec/hotplug.md 7
#pragma once

#include <string>
#include <vector>

#include "base/async/task.hpp"
#include "base/result.hpp"
#include "base/text.hpp"

namespace berth::node {

/// Which machine, and the pod of its that runs on this node.
struct PlugHost {
    Uid vmi;
    Uid launcher_pod;
    bool operator==(const PlugHost&) const = default;
};

/// One plug: a volume of a machine, with the claim that it was plugged with.
struct Plug {
    std::string volume;
    Uid claim;
    Uid attachment_pod;  ///< the pod through which it was found
    bool block = false;
    bool shared = false;    ///< ReadWriteMany: other machines of this node may have the claim too
    bool in_place = false;  ///< the kernel shows the file's mount or the device node, of this claim
    bool operator==(const Plug&) const = default;
};

class Plugs {
public:
    virtual ~Plugs() = default;

    /// What the record and the kernel say, in order of volume. A plug that is recorded and not in place is listed too.
    virtual Task<Result<std::vector<Plug>>> look(PlugHost host) = 0;

    /// Makes a claim's file or device seen in the launcher pod. Idempotent: also puts right the cgroup and the owner.
    /// Errors  unavailable: the attachment pod does not show the claim yet (again soon);
    ///         not_found: the claim holds no disk.img; conflict: another plug of that name must be released first, or
    ///         another machine of this node has the claim; io: with what was done and what the kernel said
    virtual Task<Result<void>> plug(PlugHost host, Plug wanted) = 0;

    /// Takes it away: device rule, mount, file, record. What is gone already is a success.
    /// Errors  io: it is busy; the record keeps it
    virtual Task<Result<void>> unplug(PlugHost host, std::string volume) = 0;

    /// The same for all of a machine, whose launcher may be gone; the record goes in any case.
    virtual Task<Result<void>> unplug_all(PlugHost host) = 0;

    /// The machines of which there is a record: after a restart, those that are no more are cleaned up.
    virtual Task<Result<std::vector<PlugHost>>> hosts() = 0;
};

}  // namespace berth::node
