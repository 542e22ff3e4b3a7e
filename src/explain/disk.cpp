#include "explain/disk.hpp"

namespace berth::explain {
namespace {

std::optional<Timestamp> transition(const std::vector<api::Condition>& conditions, std::string_view type) {
    const api::Condition* condition = api::find_condition(conditions, type);
    return condition == nullptr ? std::optional<Timestamp>() : condition->last_transition_time;
}

}  // namespace

Disk disk_of(const api::VmVolume& volume) { return {volume.name, volume.claim_name(), volume.data_volume.has_value()}; }

bool is_filled(const View& view, const Disk& disk) {
    return disk.by_data_volume || find_named(view.data_volumes, disk.claim) != nullptr;
}

Line data_volume_line(const View& view, const Disk& disk, int depth) {
    Line line{.depth = depth, .object = "dv/" + disk.claim};
    const api::DataVolume* dv = find_named(view.data_volumes, disk.claim);
    if (dv == nullptr) {
        line.state = "missing";
        line.mark = Mark::waits;
        line.why = "waits for the DataVolume \"" + disk.claim + "\" to be created";
        return line;
    }
    line.state = dv->status.phase.empty() ? "new" : dv->status.phase;
    if (!dv->status.progress.empty() && dv->status.progress != "N/A" && line.state == "ImportInProgress") {
        line.state += " " + dv->status.progress;
    }
    if (dv->status.phase == "Succeeded") return line;
    line.mark = dv->status.phase == "Failed" ? Mark::failed : Mark::waits;
    const api::Condition* running = api::find_condition(dv->status.conditions, "Running");
    const api::Condition* bound = api::find_condition(dv->status.conditions, "Bound");
    if (running != nullptr && running->status == "False" && !running->message.empty()) {
        line.why = (running->reason.empty() ? "" : running->reason + ": ") + running->message;
        line.since = running->last_transition_time;
        line.mark = Mark::failed;
    } else if (dv->status.phase == "WaitForFirstConsumer") {
        line.why = "waits for a pod that uses its claim, so that the disk is made where the machine can run";
    } else if (bound != nullptr && bound->status != "True") {
        line.why = bound->message;
    } else if (dv->status.phase.starts_with("Import")) {
        line.why = "waits for the worker pod importer-" + disk.claim + " to fill it";
    }
    if (line.why.empty()) line.why = warning_of(view, "datavolume/" + disk.claim);
    if (!line.since) line.since = transition(dv->status.conditions, "Bound");
    return line;
}

// Why a claim that was deleted is still there.
std::string leaving_why(const View& view, const api::PersistentVolumeClaim& claim) {
    for (const api::Pod& pod : view.pods) {
        const bool uses =
            !pod.is_terminal() && std::ranges::any_of(pod.spec.volumes, [&](const api::PodVolume& volume) {
                return volume.persistent_volume_claim &&
                       volume.persistent_volume_claim->claim_name == claim.metadata.name;
            });
        if (uses) return "was deleted, and goes when pod " + pod.metadata.name + " no longer uses it";
    }
    std::string holders;
    for (const std::string& finalizer : claim.metadata.finalizers) holders += (holders.empty() ? "" : ", ") + finalizer;
    return "was deleted, and goes when nothing holds it any more: finalizers " + holders;
}

Line claim_line(const View& view, const Disk& disk, int depth) {
    Line line{.depth = depth, .object = "pvc/" + disk.claim};
    const api::PersistentVolumeClaim* claim = find_named(view.claims, disk.claim);
    if (claim == nullptr) {
        line.state = "missing";
        line.mark = disk.by_data_volume ? Mark::waits : Mark::failed;
        line.why = disk.by_data_volume ? "waits for its DataVolume"
                                       : "create the claim \"" + disk.claim + "\": the machine starts then";
        return line;
    }
    line.state = claim->metadata.is_deleting() ? "Terminating" : claim->status.phase;
    if (line.state == "Bound") return line;
    line.mark = line.state == "Lost" ? Mark::failed : Mark::waits;
    const std::string* node = claim->metadata.annotation("volume.kubernetes.io/selected-node");
    if (claim->metadata.is_deleting()) {
        line.why = leaving_why(view, *claim);
    } else if (line.state == "Lost") {
        line.why = "its volume is gone and the data with it: delete the claim";
    } else if (node != nullptr) {
        line.why = "waits for the provisioner to make its volume on node " + *node;
    } else {
        line.why = "waits for the scheduler to choose a node";
    }
    const std::string warning = warning_of(view, "persistentvolumeclaim/" + disk.claim);
    if (!warning.empty()) line.why += ": " + warning;
    line.since = claim->metadata.creation_timestamp;
    return line;
}

std::optional<Line> volume_line(const View& view, const Disk& disk, int depth) {
    const api::PersistentVolumeClaim* claim = find_named(view.claims, disk.claim);
    if (claim == nullptr || claim->spec.volume_name.empty()) return {};
    Line line{.depth = depth, .object = "pv/" + claim->spec.volume_name};
    const api::PersistentVolume* volume = find_named(view.volumes, claim->spec.volume_name);
    if (volume == nullptr) {
        line.state = "missing";
        line.mark = Mark::failed;
        return line;
    }
    line.state = volume->status.phase;
    const std::vector<std::string> nodes = nodes_of(*volume);
    for (const std::string& node : nodes) line.state += (&node == &nodes.front() ? " on node " : ", ") + node;
    return line;
}

}  // namespace berth::explain
