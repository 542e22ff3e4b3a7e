// The volumes and disks a running machine should have. Contract: docs/spec/hotplug.md 4.1, 4.2
#pragma once

#include "hotplug/template/view.hpp"

namespace berth::hotplug::tmpl {

struct Lists {
    json::Array volumes;
    json::Array disks;
    bool operator==(const Lists&) const = default;
};

/// Of the spec of a machine or of a template.
Lists lists_of(const json::Value& spec);

/// The machine's lists as its template wants them, as far as that can be had now.
Lists follow_template(const View& view);

/// The lists with all requests of the VM's queue done.
Lists with_queue(const View& view, const json::Value& spec);

}  // namespace berth::hotplug::tmpl
