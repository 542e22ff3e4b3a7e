// The flow, top to bottom: the first line that applies decides. One write a pass: the next one sees what it did.
#include "hotplug/template/sync.hpp"

#include "hotplug/lists.hpp"
#include "hotplug/template/lists.hpp"

namespace berth::hotplug::tmpl {
namespace {

using api::Plan;

constexpr std::string_view kQueue = "/status/volumeRequests";
constexpr const char* kFailureReason = "HotPlugVolumeError";

api::Key key_of(const View& view) { return {&api::kVirtualMachine, view.vm->metadata.ns, view.vm->metadata.name}; }
api::Key machine_key(const View& view) { return {&api::kVmi, view.vmi->metadata.ns, view.vmi->metadata.name}; }

// --- facts
// ---------------------------------------------------------------------------------------------------------------------

const json::Array& queue(const View& view) { return list_at(*view.vm_document, kQueue); }

bool has_machine(const View& view) {
    return view.vmi != nullptr && !view.vmi->metadata.is_deleting() && !view.vmi->is_final();
}
bool runs(const View& view) { return has_machine(view) && view.vmi->status.phase == "Running"; }
bool follows(const View& view) {
    return view.gates.follows_template() && view.vm->spec.update_volumes_strategy != "Migration" && runs(view);
}

Lists machine_lists(const View& view) {
    const json::Value* spec = json::find(*view.vmi_document, "/spec");
    return spec == nullptr ? Lists{} : lists_of(*spec);
}
Lists template_lists(const View& view) {
    const json::Value* spec = json::find(*view.vm_document, "/spec/template/spec");
    return spec == nullptr ? Lists{} : lists_of(*spec);
}
Lists after_queue(const View& view, const json::Value& document, std::string_view at) {
    const json::Value* spec = json::find(document, at);
    return spec == nullptr ? Lists{} : with_queue(view, *spec);
}

// Asked for, and the machine's or the template's lists do not show it yet.
bool machine_lacks_requests(const View& view) {
    return !queue(view).empty() && has_machine(view) &&
           after_queue(view, *view.vmi_document, "/spec") != machine_lists(view);
}
bool template_lacks_requests(const View& view) {
    return !queue(view).empty() && after_queue(view, *view.vm_document, "/spec/template/spec") != template_lists(view);
}
bool machine_differs(const View& view) { return follows(view) && follow_template(view) != machine_lists(view); }

bool is_deleted(const View& view) { return view.vm->metadata.is_deleting(); }
bool requests_need_the_guest(const View& view) { return machine_lacks_requests(view) && !runs(view); }
bool moves(const View& view) {
    return (machine_lacks_requests(view) || machine_differs(view)) && is_migrating(*view.vmi_document);
}
bool has_requests(const View& view) { return !queue(view).empty(); }

// --- wants
// ---------------------------------------------------------------------------------------------------------------------

json::Value lists_patch(Lists lists) {
    return json::Object{
        {"volumes", std::move(lists.volumes)                                                  },
        {"domain",  json::Object{{"devices", json::Object{{"disks", std::move(lists.disks)}}}}}
    };
}

Plan patch_machine(const View& view, Lists lists) {
    return api::want(api::Patch{
        .key = machine_key(view),
        .patch = json::Object{{"spec", lists_patch(std::move(lists))}},
        .uid = view.vmi->metadata.uid,
        .at = view.vmi->metadata.resource_version,
    });
}

Plan do_requests(const View& view) { return patch_machine(view, after_queue(view, *view.vmi_document, "/spec")); }
Plan follow(const View& view) { return patch_machine(view, follow_template(view)); }

Plan store_requests(const View& view) {
    Lists lists = after_queue(view, *view.vm_document, "/spec/template/spec");
    return api::want(api::Patch{
        .key = key_of(view),
        .patch =
            json::Object{{"spec", json::Object{{"template", json::Object{{"spec", lists_patch(std::move(lists))}}}}}},
        .uid = view.vm->metadata.uid,
        .at = view.vm->metadata.resource_version,
    });
}

// Machine and template show all of them.
Plan empty_queue(const View& view) {
    return api::want(api::Patch{
        .key = key_of(view),
        .part = api::Part::status,
        .patch = json::Object{{"status", json::Object{{"volumeRequests", nullptr}}}},
        .uid = view.vm->metadata.uid,
        .at = view.vm->metadata.resource_version,
    });
}

Plan await_guest(const View& view) {
    return api::wait_for({.who = "launcher", .on = machine_key(view), .why = "volumes are plugged when the guest runs"}
    );
}
Plan await_migration(const View& view) {
    return api::wait_for(
        {.who = "migration", .on = machine_key(view), .why = "volumes are plugged when the migration is over"}
    );
}
Plan rest(const View&) { return api::settled(); }

constexpr api::Rule<View> kSync[] = {
    {"4.1",  "deleted-changes-nothing",     is_deleted,              rest           },
    {"4.1",  "requests-need-a-guest",       requests_need_the_guest, await_guest    },
    {"R-24", "migration-comes-first",       moves,                   await_migration},
    {"4.1",  "requests-reach-the-machine",  machine_lacks_requests,  do_requests    },
    {"4.1",  "requests-reach-the-template", template_lacks_requests, store_requests },
    {"4.1",  "requests-are-done",           has_requests,            empty_queue    },
    {"4.2",  "machine-follows-template",    machine_differs,         follow         },
    {"4.2",  "nothing-to-plug",             api::always<View>,       rest           },
};

// --- the condition
// -------------------------------------------------------------------------------------------------------------

// Of the VM, whole, with Failure as this pass leaves it. none: nothing changes.
std::optional<json::Value> conditions_after(const View& view, bool is_stuck) {
    const json::Array& known = list_at(*view.vm_document, "/status/conditions");
    json::Array out;
    const json::Value* failure = nullptr;
    for (const json::Value& one : known) {
        if (json::text_at(one, "/type") == "Failure") {
            failure = &one;
        } else {
            out.push_back(one);
        }
    }
    const bool is_ours = failure != nullptr && json::text_at(*failure, "/reason") == kFailureReason;
    if (failure != nullptr && !is_ours) return {};  // what keeps the VM itself from working is told first
    if (!is_stuck) return is_ours ? std::optional<json::Value>(std::move(out)) : std::nullopt;
    if (is_ours && json::text_at(*failure, "/message") == *view.failed) return {};
    out.push_back(json::Object{
        {"type",               "Failure"           },
        {"status",             "True"              },
        {"reason",             kFailureReason      },
        {"message",            *view.failed        },
        {"lastTransitionTime", to_rfc3339(view.now)}
    });
    return json::Value(std::move(out));
}

}  // namespace

std::span<const api::Rule<View>> flow() { return kSync; }

Plan sync(const View& view) { return api::first_match(kSync, view); }

Plan plan(const View& view) {
    Plan out = sync(view);
    const bool is_stuck = view.failed.has_value() && !out.intents.empty();
    auto conditions = conditions_after(view, is_stuck);
    if (!conditions) return out;
    api::Patch told{
        .key = key_of(view),
        .part = api::Part::status,
        .patch = json::Object{{"status", json::Object{{"conditions", std::move(*conditions)}}}},
        .uid = view.vm->metadata.uid,
        .at = view.vm->metadata.resource_version,
    };
    // Two patches of one version cannot both succeed: work on the VM itself waits for the next pass.
    std::erase_if(out.intents, [&](const api::Intent& intent) {
        const auto* patch = std::get_if<api::Patch>(&intent);
        return patch != nullptr && patch->key == told.key;
    });
    out.intents.insert(out.intents.begin(), std::move(told));
    return out;
}

}  // namespace berth::hotplug::tmpl
