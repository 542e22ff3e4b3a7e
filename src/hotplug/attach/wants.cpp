#include "hotplug/attach/wants.hpp"

#include "api/codec.hpp"
#include "base/ranges.hpp"
#include "hotplug/attach/needs.hpp"
#include "hotplug/attach/waits.hpp"
#include "hotplug/pod/render.hpp"
#include "placement/names.hpp"
#include "placement/vmi/facts.hpp"

namespace berth::hotplug::attach {
namespace {

api::Emit event(const View& view, std::string reason, std::string message, bool is_warning = false) {
    return {placement::key_of(*view.vmi), view.vmi->metadata.uid, is_warning, std::move(reason), std::move(message)};
}

std::string kind_of(const api::Pod& pod) {
    return placement::is_temp(pod) ? "hotplug trigger pod " : "hotplug attachment pod ";
}

void add_delete(const View& view, api::Plan& plan, const api::Pod& pod) {
    if (pod.metadata.is_deleting()) return;
    plan.add(api::Delete{.key = placement::key_of(pod), .uid = pod.metadata.uid, .grace_seconds = 0});
    plan.add(event(view, "SuccessfulDelete", "Deleted " + kind_of(pod) + pod.metadata.name));
}

RenderInput render_input(const View& view) {
    RenderInput out{
        .vmi = *view.vmi, .launcher = *view.launcher, .config = *view.config, .selinux_level = *selinux_level(*view.vmi)
    };
    for (const auto* pods : {&view.pods, &view.triggers}) {
        for (const api::Pod* pod : *pods) out.taken.push_back(pod->metadata.name);
    }
    return out;
}

std::vector<Mounted> mounted(const View& view, const std::vector<Pair>& pairs) {
    std::vector<Mounted> out;
    for (const Pair& pair : pairs) out.push_back({pair.volume, find_claim(view, pair.claim)});
    return out;
}

void add_creates(const View& view, api::Plan& plan, const std::vector<api::Pod>& pods) {
    for (const api::Pod& pod : pods) {
        plan.add(api::Create{placement::document_of(api::kPod, pod)});
        plan.add(event(view, "SuccessfulCreate", "Created " + kind_of(pod) + pod.metadata.name));
    }
}

}  // namespace

api::Plan nothing(const View&) { return api::settled(); }

api::Plan await_collector(const View& view) {
    if (view.pods.empty() && view.triggers.empty() && view.left.empty()) return api::settled();
    return api::wait_for(
        {"garbage collector", placement::key_of(*view.vmi), "the attachment pods go with the launcher pod"}
    );
}

api::Plan delete_left_pods(const View& view) {
    api::Plan plan;
    for (const api::Pod* pod : view.left) add_delete(view, plan, *pod);
    if (plan.intents.empty()) plan.wait = await_end(*view.left.front());
    return plan;
}

api::Plan delete_all_pods(const View& view) {
    api::Plan plan;
    for (const auto* pods : {&view.pods, &view.triggers}) {
        for (const api::Pod* pod : *pods) {
            add_delete(view, plan, *pod);
            plan.wait = await_end(*pod);
        }
    }
    return plan;
}

api::Plan await_launcher(const View& view) {
    const api::Key on = view.launcher == nullptr ? placement::key_of(*view.vmi) : placement::key_of(*view.launcher);
    return api::wait_for({"kubelet", on, "volumes are attached once the machine's launcher pod is ready"});
}

api::Plan delete_useless_pods(const View& view) {
    api::Plan plan;
    for (const api::Pod* pod : useless_pods(view)) add_delete(view, plan, *pod);
    for (const api::Pod* pod : useless_triggers(view)) add_delete(view, plan, *pod);
    return plan;
}

api::Plan await_context(const View& view) {
    return api::wait_for(
        {"node agent",
         placement::key_of(*view.vmi),
         "it has not published status.selinuxContext, which pods are made with"}
    );
}

api::Plan create_pods(const View& view) {
    const RenderInput input = render_input(view);
    std::vector<api::Pod> pods;
    for (const std::vector<Pair>& pairs : missing_pods(view)) {
        pods.push_back(attachment_pod(input, mounted(view, pairs)));
    }
    for (const Disk* disk : missing_triggers(view)) {
        pods.push_back(trigger_pod(input, {disk->volume->name, disk->claim}));
    }
    // The pod that was refused last time comes last, so that it does not keep the others from being made.
    const auto refused = std::ranges::find_if(pods, [&](const api::Pod& pod) {
        return placement::failed_to_create(view.failed, api::kPod, pod.metadata.name);
    });
    if (refused != pods.end()) std::rotate(refused, refused + 1, pods.end());
    api::Plan plan;
    add_creates(view, plan, pods);
    return plan;
}

api::Plan merge_pods(const View& view) {
    api::Plan plan;
    if (selinux_level(*view.vmi)) {
        add_creates(view, plan, {attachment_pod(render_input(view), mounted(view, mergeable(view)))});
    }
    return plan;
}

api::Plan await_volumes(const View& view) {
    api::Plan plan;
    plan.wait = next_wait(view);
    return plan;
}

void show_failure(const View& view, api::Plan& plan) {
    if (!view.failed) return;
    const bool is_create = placement::failed_to_create(view.failed, api::kPod);
    if (!is_create && !view.failed->intent.starts_with("delete pod/")) return;
    const char* reason = is_create ? "FailedCreate" : "FailedDelete";
    const char* what = is_create ? "Error creating hotplug pod: " : "Error deleting hotplug pod: ";
    // Before what may fail again.
    plan.intents.insert(plan.intents.begin(), event(view, reason, what + view.failed->message, true));
}

}  // namespace berth::hotplug::attach
