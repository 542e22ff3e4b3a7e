// The part of a machine's status that its node writes.
#pragma once

#include "node/plan/vmi.hpp"

namespace berth::node {

/// Enters a phase; the first time counts.
void set_phase(const View& view, api::VmiStatus& status, std::string phase);

/// Machine type, and the error of the last sync, as the launcher reports them; and all of the volumes.
void take_over_report(const View& view, api::VmiStatus& status);

/// LiveMigratable: False as long as a claim cannot be used on two nodes at once.
void set_migratable(const View& view, api::VmiStatus& status);

/// What containers of the machine's pods are labelled with; "none": the node has no SELinux.
void set_selinux_context(api::VmiStatus& status);

void set_paused(const View& view, api::VmiStatus& status);

/// The status shows already that the last sync failed for this reason.
bool shows_sync_error(const View& view);

/// Adds the patch that makes `desired` true, if there is a difference.
void add_status(const View& view, api::Plan& plan, const api::VmiStatus& desired);

}  // namespace berth::node
