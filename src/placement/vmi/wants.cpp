#include "placement/vmi/wants.hpp"

#include "api/codec.hpp"
#include "placement/names.hpp"
#include "placement/pod/render.hpp"

namespace berth::placement::vmi {
namespace {

api::Emit event(const View& view, std::string_view reason, std::string message, bool is_warning = false) {
    return {key_of(*view.vmi), view.vmi->metadata.uid, is_warning, std::string(reason), std::move(message)};
}
api::Emit warning(const View& view, std::string_view reason, std::string message) {
    return event(view, reason, std::move(message), true);
}

api::Key claim_key(const View& view, const Disk& disk) {
    return {&api::kClaim, view.vmi->metadata.ns, disk.volume->claim_name()};
}

std::string claim_path(const View& view, const Disk& disk) {
    return view.vmi->metadata.ns + "/" + disk.volume->claim_name();
}

Outcome fails(SyncError error) { return {.plan = {}, .error = std::move(error)}; }

// True once the status shows this error: its event has been sent then.
bool is_shown(const View& view, const SyncError& error) {
    const api::Condition* shown = api::find_condition(view.vmi->status.conditions, "Synchronized");
    return shown != nullptr && shown->status == "False" && shown->reason == error.reason;
}

Outcome fails_once(const View& view, SyncError error, api::Emit said) {
    Outcome out = fails(std::move(error));
    if (!is_shown(view, *out.error)) out.plan.add(std::move(said));
    return out;
}

void delete_with_event(
    Outcome& out, const View& view, const api::Pod& pod, std::optional<std::int64_t> grace, std::string_view what
) {
    out.plan.add(api::Delete{.key = key_of(pod), .uid = pod.metadata.uid, .grace_seconds = grace});
    out.plan.add(event(view, "SuccessfulDelete", "Deleted " + std::string(what) + " pod " + pod.metadata.name));
}

// A create that failed at the last pass shows as an error while the engine tries again.
void show_failed_create(Outcome& out, const View& view) {
    if (!failed_to_create(view.failed, api::kPod)) return;
    const std::string& text = view.failed->message;
    std::string message = "failed to create virtual machine pod: " + text;
    if (view.failed->kind == ErrorKind::forbidden && text.find("violates PodSecurity") != std::string::npos) {
        message = "failed to create pod for vmi " + view.vmi->metadata.ns + "/" + view.vmi->metadata.name +
                  ", it needs a privileged namespace to run: " + text;
    }
    out.error = SyncError{"FailedCreate", std::move(message)};
    out.plan.add(warning(view, "FailedCreate", "Error creating pod: " + text));
}

Outcome create_pod(const View& view, Role role) {
    std::vector<const api::PersistentVolumeClaim*> claims;
    for (const Disk& disk : view.disks) {
        if (disk.claim != nullptr) claims.push_back(disk.claim);
    }
    const RenderInput input{.vmi = *view.vmi, .claims = claims, .backend = view.backend, .config = *view.config};
    Result<api::Pod> pod = render(input, role);
    if (!pod) {
        const std::string text = "failed to render launch manifest: " + pod.error().message;
        const bool is_missing = pod.error().kind == ErrorKind::not_found;
        const char* reason = is_missing ? "FailedPvcNotFound" : "FailedCreate";
        return fails_once(view, {reason, text}, warning(view, reason, text));
    }
    Outcome out;
    show_failed_create(out, view);
    const std::string name = pod->metadata.name;
    out.plan.add(api::Create{document_of(api::kPod, *pod)});
    out.plan.add(event(view, "SuccessfulCreate", "Created virtual machine pod " + name));
    return out;
}

}  // namespace

Outcome nothing(const View&) { return {}; }

Outcome delete_own_pods(const View& view) {
    Outcome out;
    const api::Pod* remaining = nullptr;
    for (const api::Pod* pod : view.pods) {
        remaining = pod;
        // A pod that ended may be left over from a node that is gone: it is asked for again.
        if (pod->metadata.is_deleting() && !is_down(*pod)) continue;
        delete_with_event(out, view, *pod, {}, "virtual machine");
    }
    if (remaining != nullptr)
        out.plan.wait =
            api::Wait{"kubelet", key_of(*remaining), "the machine's pod must end before the machine is gone"};
    return out;
}

// A temporary pod of a machine that is over would hold its claims and keep the other disks from being filled. Helpers
// of a launcher whose guest has ended would run, and hold their node's resources, for ever.
Outcome delete_useless_pods(const View& view) {
    Outcome out;
    for (const api::Pod* pod : view.pods) {
        if (pod->metadata.is_deleting()) continue;
        if (is_temp(*pod)) delete_with_event(out, view, *pod, 0, "WaitForFirstConsumer temporary");
        if (!is_temp(*pod) && !is_down(*pod) && has_ended(*pod))
            delete_with_event(out, view, *pod, {}, "virtual machine");
    }
    return out;
}

Outcome delete_finished_temp_pods(const View& view) {
    Outcome out;
    for (const api::Pod* pod : finished_temp_pods(view))
        delete_with_event(out, view, *pod, 0, "WaitForFirstConsumer temporary");
    return out;
}

Outcome report_missing_claim(const View& view) {
    const Disk& disk = *gate_of(view).missing;
    const std::string text = "PVC " + claim_path(view, disk) + " does not exist, waiting for it to appear";
    Outcome out = fails_once(view, {"FailedPvcNotFound", text}, event(view, "FailedPvcNotFound", text));
    out.plan.wait = api::Wait{"user", claim_key(view, disk), text};
    return out;
}

Outcome report_missing_owner(const View& view) {
    const Disk& disk = *gate_of(view).owner_missing;
    const std::string why = "DataVolume " + view.vmi->metadata.ns + "/" + disk.claim->metadata.controller()->name +
                            " of PVC " + claim_path(view, disk) + " does not exist";
    Outcome out = fails_once(
        view,
        {"FailedDataVolumeImport", "Error determining if volume is ready " + why},
        warning(view, "FailedPvcNotFound", "Error determining if volume is ready: " + why)
    );
    out.plan.wait = api::Wait{"garbage collector", claim_key(view, disk), why};
    return out;
}

Outcome await_binding(const View& view) {
    const api::Pod& pod = *current_pod(view);
    Outcome out;
    const bool is_scheduled = !pod.spec.node_name.empty();
    out.plan.wait =
        is_scheduled
            ? api::Wait{"datavolume controller", key_of(pod), "a disk still says that it waits for its first consumer"}
            : api::Wait{"scheduler", key_of(pod), "one node must be chosen for all disks of the machine"};
    return out;
}

Outcome await_current_pod(const View& view) {
    Outcome out;
    if (is_on_node(view)) return out;
    const api::Pod& pod = *current_pod(view);
    const std::string who = pod.spec.node_name.empty() ? "scheduler" : "kubelet";
    const std::string why = is_temp(pod) ? "the provisioning pod must run before its disks are filled"
                                         : "the machine's pod must become ready";
    out.plan.wait = api::Wait{who, key_of(pod), why};
    return out;
}

Outcome await_disk(const View& view) {
    const Disk& disk = *gate_of(view).not_ready;
    Outcome out;
    if (readiness_of(disk) == Readiness::claim_is_deleting) {
        out.plan.wait = api::Wait{
            "garbage collector", claim_key(view, disk), "the claim is being deleted; its successor is awaited"
        };
    } else {
        const api::Key key{&api::kDataVolume, view.vmi->metadata.ns, disk.owner->metadata.name};
        const std::string phase = disk.owner->status.phase.empty() ? "not started" : disk.owner->status.phase;
        out.plan.wait = api::Wait{"datavolume controller", key, "the disk is not ready: " + phase};
    }
    return out;
}

Outcome await_other_machine(const View& view) {
    const Disk& disk = *held_disk(view);
    const std::string text = "PVC " + claim_path(view, disk) + " is in use by VMI " + disk.held_by +
                             ": stop that machine, or use a claim with access mode ReadWriteMany";
    Outcome out = fails_once(view, {"PVCInUse", text}, warning(view, "PVCInUse", text));
    out.plan.wait = api::Wait{"user", claim_key(view, disk), text};
    return out;
}

Outcome report_backend(const View& view) {
    const std::string text =
        "persistent TPM or EFI state needs a claim labelled persistent-state-for=" + view.vmi->metadata.name +
        ": create one, or drop `persistent` from the machine's tpm and efi";
    Outcome out =
        fails_once(view, {"FailedBackendStorageCreate", text}, warning(view, "FailedBackendStorageCreate", text));
    out.plan.wait = api::Wait{"user", key_of(*view.vmi), text};
    return out;
}

Outcome create_temp_pod(const View& view) { return create_pod(view, Role::temp); }

Outcome create_launcher(const View& view) { return create_pod(view, Role::real); }

}  // namespace berth::placement::vmi
