// What a node's agent decides about one machine of its node: from `Scheduled` on, the guest's truth becomes the status.
// Contract: docs/spec/placement.md 2.6
#pragma once

#include <span>

#include "agent/link.hpp"
#include "api/kubevirt.hpp"
#include "api/plan.hpp"

namespace berth::node {

struct View {
    api::Key key;
    std::optional<api::VirtualMachineInstance> vmi;
    std::string node;                  ///< this node
    std::optional<api::Pod> launcher;  ///< the machine's launcher pod on this node
    std::vector<api::PersistentVolumeClaim> claims;
    std::optional<agent::Report> report;  ///< none: not connected to the launcher
    std::optional<Timestamp> shutdown_sent_at;
    bool synced = false;  ///< the launcher was told what is wanted, in this version
    Timestamp now;
};

/// Effects: "sync domain", "shutdown domain", "destroy domain", all on the launcher pod's UID.
api::Plan sync(const View& view);

/// The lines of the flow, in order: for documents and for the test that each is reached.
std::span<const api::Rule<View>> flow();

/// Whether this node has anything to do with the machine: the agent keeps a connection then.
bool is_ours(const View& view);

}  // namespace berth::node
