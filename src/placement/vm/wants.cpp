#include "placement/vm/wants.hpp"

#include "api/codec.hpp"
#include "placement/names.hpp"
#include "placement/vm/disks.hpp"
#include "placement/vm/start.hpp"

namespace berth::placement::vm {
namespace {

api::Emit event(const View& view, std::string_view reason, std::string message, bool is_warning = false) {
    return {key_of(*view.vm), view.vm->metadata.uid, is_warning, std::string(reason), std::move(message)};
}

json::Array list_of(const std::vector<std::string>& texts) {
    json::Array out;
    for (const std::string& text : texts) out.push_back(json::Value(text));
    return out;
}

// Metadata lists are replaced whole, so they name the version they were read at.
api::Patch metadata_patch(const api::Key& key, const api::ObjectMeta& meta, json::Value metadata) {
    return {
        .key = key,
        .part = api::Part::object,
        .patch = json::Object{{"metadata", std::move(metadata)}},
        .uid = meta.uid,
        .at = meta.resource_version,
    };
}

api::Patch adoption(const api::Key& key, const api::ObjectMeta& meta, const api::VirtualMachine& owner) {
    json::Array owners;
    for (const api::OwnerReference& reference : meta.owner_references) {
        owners.push_back(json::Object{
            {"apiVersion", reference.api_version},
            {"kind",       reference.kind       },
            {"name",       reference.name       },
            {"uid",        reference.uid.value  },
        });
    }
    const api::OwnerReference ours = owned_by(owner);
    owners.push_back(json::Object{
        {"apiVersion",         ours.api_version},
        {"kind",               ours.kind       },
        {"name",               ours.name       },
        {"uid",                ours.uid.value  },
        {"controller",         true            },
        {"blockOwnerDeletion", true            },
    });
    return metadata_patch(
        key,
        meta,
        json::Object{
            {"ownerReferences", std::move(owners)}
    }
    );
}

api::Wait disk_wait(const View& view, const Template& entry) {
    const api::Key key{&api::kDataVolume, view.vm->metadata.ns, entry.wanted->metadata.name};
    const bool is_made = entry.disk != nullptr;
    const std::string phase = !is_made                           ? "not made yet"
                              : entry.disk->status.phase.empty() ? "not started"
                                                                 : entry.disk->status.phase;
    const bool needs_user = phase == "Failed";
    return {
        needs_user ? "user" : "datavolume controller",
        key,
        needs_user ? "the disk failed: delete the DataVolume to make it again" : "the disk is not ready: " + phase
    };
}

}  // namespace

Outcome nothing(const View& view) {
    Outcome out;
    if (makes_disks_early(view) && run_strategy(*view.vm) == "Halted") out.plan.intents = disks(view).intents;
    return out;
}

Outcome drop_finalizer(const View& view) {
    Outcome out;
    if (!view.vm->metadata.has_finalizer(kVmFinalizer)) return out;
    std::vector<std::string> finalizers = view.vm->metadata.finalizers;
    std::erase(finalizers, kVmFinalizer);
    out.plan.add(metadata_patch(
        key_of(*view.vm),
        view.vm->metadata,
        json::Object{
            {"finalizers", list_of(finalizers)}
    }
    ));
    return out;
}

Outcome mark(const View& view) {
    std::vector<std::string> finalizers = view.vm->metadata.finalizers;
    if (!view.vm->metadata.has_finalizer(kVmFinalizer)) finalizers.push_back(kVmFinalizer);
    json::Object annotations{
        {kLatestApiVersion,  "v1"},
        {kStorageApiVersion, "v1"}
    };
    json::Object metadata{
        {"finalizers",  list_of(finalizers)   },
        {"annotations", std::move(annotations)}
    };
    Outcome out;
    out.plan.add(metadata_patch(key_of(*view.vm), view.vm->metadata, std::move(metadata)));
    return out;
}

Outcome adopt_orphans(const View& view) {
    Outcome out;
    if (view.vmi != nullptr && view.vmi->metadata.controller() == nullptr) {
        out.plan.add(adoption(key_of(*view.vmi), view.vmi->metadata, *view.vm));
    }
    for (const Template& entry : view.templates) {
        if (entry.disk == nullptr || entry.disk->metadata.controller() != nullptr || entry.disk->metadata.is_deleting())
            continue;
        const api::Key key{&api::kDataVolume, entry.disk->metadata.ns, entry.disk->metadata.name};
        out.plan.add(adoption(key, entry.disk->metadata, *view.vm));
    }
    return out;
}

Outcome report_strategy(const View& view) {
    const bool both = !view.vm->spec.run_strategy.empty();
    const std::string text = both ? "spec.running and spec.runStrategy are both set: remove spec.running"
                                  : "neither spec.running nor spec.runStrategy is set: set spec.runStrategy";
    Outcome out{
        .plan = {},
          .error = SyncError{"FailedCreate", text}
    };
    out.plan.wait = api::Wait{"user", key_of(*view.vm), text};
    return out;
}

Outcome report_disks(const View& view) {
    DiskOutcome made = disks(view);
    Outcome out{
        .plan = {},
          .error = SyncError{"FailedCreate", "Error encountered while creating DataVolumes: " + *made.error}
    };
    out.plan.intents = std::move(made.intents);
    const Template& entry = made.waits_on != nullptr ? *made.waits_on : view.templates.front();
    out.plan.wait = api::Wait{
        "user", {&api::kDataVolume, view.vm->metadata.ns, entry.wanted->metadata.name},
         *made.error
    };
    return out;
}

Outcome make_disks(const View& view) {
    DiskOutcome made = disks(view);
    Outcome out;
    out.plan.intents = std::move(made.intents);
    if (made.waits_on != nullptr) out.plan.wait = disk_wait(view, *made.waits_on);
    return out;
}

Outcome stop(const View& view) {
    Outcome out = nothing(view);
    if (view.vmi == nullptr || view.vmi->metadata.is_deleting()) {
        if (view.vmi != nullptr)
            out.plan.wait = api::Wait{"vmi controller", key_of(*view.vmi), "the machine is being stopped"};
        return out;
    }
    const Uid& uid = view.vmi->metadata.uid;
    out.plan.add(api::Delete{.key = key_of(*view.vmi), .uid = uid});
    out.plan.add(event(
        view, "SuccessfulDelete", "Stopped the virtual machine by deleting the virtual machine instance " + uid.value
    ));
    return out;
}

Outcome start_always(const View& view) {
    Outcome out = nothing(view);
    json::Object spec;
    if (view.vm->spec.running) {
        spec["running"] = true;
    } else {
        spec["runStrategy"] = "Always";
    }
    out.plan.add(api::Patch{
        .key = key_of(*view.vm), .patch = json::Object{{"spec", std::move(spec)}}, .uid = view.vm->metadata.uid
    });
    return out;
}

Outcome await_backoff(const View& view) {
    Outcome out;
    const auto& failure = *view.vm->status.start_failure;
    out.plan.look_again_at = failure.retry_after_timestamp;
    out.plan.wait = api::Wait{
        "time",
        key_of(*view.vm),
        "the machine failed to start " + std::to_string(failure.consecutive_fail_count) +
            " times: it is tried again at " + to_rfc3339(*failure.retry_after_timestamp)
    };
    return out;
}

Outcome await_recovery(const View& view) {
    Outcome out;
    out.plan.wait =
        api::Wait{"user", key_of(*view.vm), "the VM needs manual recovery: see its condition ManualRecoveryRequired"};
    return out;
}

Outcome report_receiver(const View& view) {
    const std::string text =
        "run strategy WaitAsReceiver needs a machine made for receiving: delete the VMI, or use another strategy";
    Outcome out{
        .plan = {},
          .error = SyncError{"FailedCreate", text}
    };
    out.plan.wait = api::Wait{"user", key_of(*view.vm), text};
    return out;
}

Outcome report_taken_name(const View& view) {
    const std::string why = R"(virtualmachineinstances.kubevirt.io ")" + view.vm->metadata.name + R"(" already exists)";
    Outcome out{
        .plan = {},
          .error = SyncError{"FailedCreate", "Failure while starting VMI: " + why}
    };
    const api::Condition* shown = api::find_condition(view.vm->status.conditions, "Failure");
    if (shown == nullptr || shown->message != out.error->message) {
        out.plan.add(event(view, "FailedCreate", "Error creating virtual machine instance: " + why, true));
    }
    out.plan.wait = api::Wait{
        "user",
        {&api::kVmi, view.vm->metadata.ns, view.vm->metadata.name},
        why + ": delete it, or name the VM otherwise"
    };
    return out;
}

Outcome start(const View& view) {
    Outcome out = nothing(view);
    if (failed_to_create(view.failed, api::kVmi, view.vm->metadata.name)) {
        out.error = SyncError{"FailedCreate", "Failure while starting VMI: " + view.failed->message};
        out.plan.add(
            event(view, "FailedCreate", "Error creating virtual machine instance: " + view.failed->message, true)
        );
    }
    const json::Value revision = revision_for(view);
    const std::string& name = view.vm->metadata.name;
    for (const api::ControllerRevision* older : view.revisions) {
        if (older->metadata.name == json::text_at(revision, "/metadata/name")) continue;
        out.plan.add(api::Delete{
            .key = {&api::kControllerRevision, older->metadata.ns, older->metadata.name},
              .uid = older->metadata.uid
        });
    }
    if (!has_revision(view)) out.plan.add(api::Create{revision});
    out.plan.add(api::Create{vmi_for(view)});
    out.plan.add(event(
        view, "SuccessfulCreate", "Started the virtual machine by creating the new virtual machine instance " + name
    ));
    return out;
}

}  // namespace berth::placement::vm
