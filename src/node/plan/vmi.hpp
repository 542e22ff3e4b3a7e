// What a node's agent decides about one machine of its node: from `Scheduled` on, the guest's truth becomes the status.
// Contract: docs/spec/placement.md 2.6
#pragma once

#include <span>

#include "agent/link.hpp"
#include "api/kubevirt.hpp"
#include "api/plan.hpp"
#include "node/plugs.hpp"

namespace berth::node {

/// What was last tried with a plug, and failed.
struct PlugFailure {
    std::string volume;
    Error error;
    Timestamp at;
    int count = 1;  ///< in a row
    bool operator==(const PlugFailure&) const = default;
};

/// What this node knows of the plugged volumes of one machine. The agent's memory: the kernel's truth as last looked.
struct PlugsView {
    std::vector<api::Pod> attachment_pods;   ///< of the machine's launcher pod
    std::optional<std::vector<Plug>> plugs;  ///< none: not looked yet
    std::vector<std::string> busy;           ///< volumes that an effect works on now
    std::vector<PlugFailure> failures;       ///< at most one a volume
    std::vector<std::string> said;           ///< texts of trouble that there has been an event about
    bool is_ambiguous = false;               ///< two launcher pods of the machine live here: nothing is touched
    bool has_caught_up = false;              ///< the launcher's report takes every sync into account
    std::vector<PlugHost> left;              ///< pods that are over or gone, and may have left plugs behind
};

struct View {
    api::Key key;
    std::optional<api::VirtualMachineInstance> vmi;
    std::string node;                  ///< this node
    std::optional<api::Pod> launcher;  ///< the machine's launcher pod on this node
    std::vector<api::PersistentVolumeClaim> claims;
    std::optional<agent::Report> report;  ///< none: not connected to the launcher
    std::optional<Timestamp> shutdown_sent_at;
    bool synced = false;  ///< the launcher was told what is wanted, in this version
    PlugsView hotplug;
    Timestamp now;
};

/// Effects: "sync domain", "shutdown domain", "destroy domain", "look at volumes", "plug volume", "unplug volume",
/// "unplug all", all on the launcher pod's UID.
api::Plan sync(const View& view);

/// The lines of the flow, in order: for documents and for the test that each is reached.
std::span<const api::Rule<View>> flow();

/// Whether this node has anything to do with the machine: the agent keeps a connection then.
bool is_ours(const View& view);

}  // namespace berth::node
