// The flow of plugged volumes, top to bottom: the first line that applies decides. The status is written beside it.
#include "hotplug/attach/sync.hpp"

#include "api/codec.hpp"
#include "hotplug/attach/needs.hpp"
#include "hotplug/attach/status.hpp"
#include "hotplug/attach/wants.hpp"
#include "hotplug/pod/render.hpp"
#include "placement/names.hpp"

namespace berth::hotplug::attach {
namespace {

bool is_deleted(const View& view) { return view.vmi->metadata.is_deleting(); }
bool is_final(const View& view) { return view.vmi->is_final(); }
bool has_left_pods(const View& view) { return !view.left.empty(); }
bool has_nothing(const View& view) {
    return view.disks.empty() && view.pods.empty() && view.triggers.empty() &&
           std::ranges::none_of(view.vmi->status.volume_status, [](const auto& entry) {
               return entry.hotplug_volume.has_value();
           });
}
bool lacks_launcher(const View& view) { return !view.launcher_is_ready || !is_on_node(view); }
bool has_useless_pods(const View& view) { return !useless_pods(view).empty() || !useless_triggers(view).empty(); }
bool lacks_pods(const View& view) { return !missing_pods(view).empty() || !missing_triggers(view).empty(); }
bool lacks_context(const View& view) { return lacks_pods(view) && !selinux_level(*view.vmi); }
bool can_merge(const View& view) { return !mergeable(view).empty() && view.now >= merge_at(view); }

constexpr api::Rule<View> kSync[] = {
    {"5.7", "deleted-leaves-it-to-the-collector", is_deleted,        await_collector    },
    {"5.7", "left-pods-go",                       has_left_pods,     delete_left_pods   },
    {"5.7", "finished-drops-its-pods",            is_final,          delete_all_pods    },
    {"5.1", "nothing-is-plugged",                 has_nothing,       nothing            },
    {"5.1", "launcher-comes-first",               lacks_launcher,    await_launcher     },
    {"5.8", "pods-nobody-needs-go",               has_useless_pods,  delete_useless_pods},
    {"6.1", "files-need-their-label",             lacks_context,     await_context      },
    {"5.8", "needed-volumes-get-a-pod",           lacks_pods,        create_pods        },
    {"5.8", "quiet-pods-become-one",              can_merge,         merge_pods         },
    {"2.8", "each-volume-on-its-way",             api::always<View>, await_volumes      },
};

void add_status(const View& view, api::Plan& plan) {
    api::VmiStatus desired = view.vmi->status;
    desired.volume_status = volume_status(view);
    auto changes = api::patch_between(view.vmi->status, desired);
    if (!changes) return;
    std::vector<api::Intent> intents;
    // The node's agent writes the same list: only on the version that was looked at, else it is looked at again.
    intents.push_back(api::Patch{
        .key = placement::key_of(*view.vmi),
        .part = api::Part::object,
        .patch = json::Object{{"status", std::move(*changes)}},
        .uid = view.vmi->metadata.uid,
        .at = view.vmi->metadata.resource_version,
    });
    for (api::Emit& said : events(view, desired.volume_status)) intents.push_back(std::move(said));
    for (api::Intent& intent : plan.intents) intents.push_back(std::move(intent));
    plan.intents = std::move(intents);
}

void look_again(api::Plan& plan, Timestamp at) { plan.look_again_at = std::min(plan.look_again_at.value_or(at), at); }

}  // namespace

std::span<const api::Rule<View>> flow() { return kSync; }

api::Plan plan(const View& view) {
    api::Plan out = api::first_match(kSync, view);
    if (is_deleted(view) || !is_on_node(view)) return out;
    add_status(view, out);
    show_failure(view, out);
    if (const auto at = next_retry(view)) look_again(out, *at);
    if (!mergeable(view).empty() && view.now < merge_at(view)) look_again(out, merge_at(view));
    return out;
}

}  // namespace berth::hotplug::attach
