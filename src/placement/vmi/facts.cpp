#include "placement/vmi/facts.hpp"

#include "base/ranges.hpp"
#include "placement/conditions.hpp"
#include "placement/names.hpp"

namespace berth::placement::vmi {
namespace {

constexpr std::string_view kCompute = "compute";

// The DataVolume named by a claim's controller reference, or "".
std::string owner_name(const api::PersistentVolumeClaim& claim) {
    const api::OwnerReference* owner = claim.metadata.controller();
    return owner != nullptr && owner->kind == "DataVolume" ? owner->name : std::string();
}

bool is_phase(const api::DataVolume& data_volume, std::string_view phase) { return data_volume.status.phase == phase; }

}  // namespace

const api::Pod* current_pod(const View& view) {
    const std::string& node = view.vmi->status.node_name;
    const api::Pod* newest = nullptr;
    for (const api::Pod* pod : view.pods) {
        if (!node.empty() && pod->spec.node_name != node) continue;
        // Equal times are settled by name, so that every pass sees the same pod.
        const auto rank = [](const api::Pod& p) { return std::pair(p.metadata.creation_timestamp, p.metadata.name); };
        if (newest == nullptr || rank(*newest) < rank(*pod)) newest = pod;
    }
    return newest;
}

const api::Pod* launcher(const View& view) {
    const api::Pod* pod = current_pod(view);
    return pod != nullptr && !is_temp(*pod) ? pod : nullptr;
}

const api::Pod* temp_pod(const View& view) {
    const api::Pod* pod = current_pod(view);
    return pod != nullptr && is_temp(*pod) ? pod : nullptr;
}

bool has_ended(const api::Pod& pod) {
    const api::ContainerStatus* compute = compute_status(pod);
    return compute != nullptr && api::container_state(compute->state).exit_code.has_value();
}

bool is_down(const api::Pod& pod) { return pod.is_terminal(); }

bool is_down_or_going_down(const api::Pod& pod) { return is_down(pod) || has_ended(pod) || pod.metadata.is_deleting(); }

bool is_failed_or_going_down(const api::Pod& pod) {
    if (pod.status.phase == "Failed" || pod.metadata.is_deleting()) return true;
    const api::ContainerStatus* compute = compute_status(pod);
    return compute != nullptr && api::container_state(compute->state).exit_code.value_or(0) != 0;
}

bool is_ready(const api::Pod& pod) {
    if (pod.status.phase != "Running" || is_down_or_going_down(pod)) return false;
    const api::ContainerStatus* compute = compute_status(pod);
    if (compute == nullptr || !api::container_state(compute->state).running_since) return false;
    return std::ranges::all_of(pod.status.container_statuses, [](const api::ContainerStatus& status) {
        if (status.name == kCompute) return true;
        if (status.name == "istio-proxy") return api::container_state(status.state).running_since.has_value();
        return status.ready;
    });
}

const api::ContainerStatus* compute_status(const api::Pod& pod) {
    const auto it = std::ranges::find(pod.status.container_statuses, kCompute, &api::ContainerStatus::name);
    return it == pod.status.container_statuses.end() ? nullptr : &*it;
}

std::optional<SyncError> image_error(const api::Pod& pod) {
    for (const auto* list : {&pod.status.init_container_statuses, &pod.status.container_statuses}) {
        for (const api::ContainerStatus& status : *list) {
            const api::ContainerState state = api::container_state(status.state);
            if (state.waiting_reason == "ErrImagePull" || state.waiting_reason == "ImagePullBackOff") {
                return SyncError{state.waiting_reason, state.waiting_message};
            }
        }
    }
    return {};
}

std::vector<const api::Pod*> finished_temp_pods(const View& view) {
    std::vector<const api::Pod*> out;
    const auto add = [&](const api::Pod* pod) {
        if (is_temp(*pod) && (pod->status.phase == "Running" || is_down(*pod))) out.push_back(pod);
    };
    std::ranges::for_each(view.pods, add);
    return out;
}

bool is_gated(const Disk& disk) {
    return !disk.volume->is_hotpluggable() && (disk.volume->data_volume || disk.volume->persistent_volume_claim);
}

Readiness readiness_of(const Disk& disk) {
    if (disk.claim == nullptr) return Readiness::claim_missing;
    if (owner_name(*disk.claim).empty()) return Readiness::ready;
    if (disk.owner == nullptr) return Readiness::owner_missing;
    // A pod made now would hold on to data that is on its way out.
    if (disk.claim->metadata.is_deleting()) return Readiness::claim_is_deleting;
    if (is_phase(*disk.owner, "Succeeded") || is_phase(*disk.owner, "PendingPopulation")) return Readiness::ready;
    if (is_phase(*disk.owner, "WaitForFirstConsumer")) return Readiness::awaits_consumer;
    return Readiness::not_ready;
}

Gate gate_of(const View& view) {
    Gate gate{.ready = true};
    for (const Disk& disk : view.disks) {
        if (!is_gated(disk)) continue;
        switch (readiness_of(disk)) {
            case Readiness::ready: break;
            case Readiness::awaits_consumer: gate.any_awaits_consumer = true; break;
            case Readiness::claim_missing: return {.missing = &disk};
            case Readiness::owner_missing: return {.owner_missing = &disk};
            case Readiness::not_ready:
            case Readiness::claim_is_deleting:
                gate.ready = false;
                if (gate.not_ready == nullptr) gate.not_ready = &disk;
                break;
        }
    }
    return gate;
}

std::vector<const api::DataVolume*> data_volumes(const View& view) {
    std::vector<const api::DataVolume*> out;
    for (const Disk& disk : view.disks) {
        const api::DataVolume* behind = disk.volume->data_volume               ? disk.named
                                        : disk.volume->persistent_volume_claim ? disk.owner
                                                                               : nullptr;
        if (behind != nullptr && !contains(out, behind)) out.push_back(behind);
    }
    return out;
}

bool has_failed_disk(const View& view) {
    return std::ranges::any_of(data_volumes(view), [](const api::DataVolume* d) { return is_phase(*d, "Failed"); });
}

bool has_waiting_disk(const View& view) {
    const auto waits = [](const api::DataVolume* d) { return is_phase(*d, "WaitForFirstConsumer"); };
    return !has_failed_disk(view) && std::ranges::any_of(data_volumes(view), waits);
}

const Disk* held_disk(const View& view) {
    const auto it = std::ranges::find_if(view.disks, [](const Disk& disk) {
        return !disk.held_by.empty() && !disk.volume->is_hotpluggable();
    });
    return it == view.disks.end() ? nullptr : &*it;
}

bool is_deleted(const View& view) { return view.vmi->metadata.is_deleting(); }

bool is_final(const View& view) { return view.vmi->is_final(); }

bool is_unprocessed(const View& view) { return view.vmi->status.phase.empty() || view.vmi->status.phase == "Pending"; }

bool is_on_node(const View& view) {
    return view.vmi->status.phase == "Scheduled" || view.vmi->status.phase == "Running";
}

bool needs_backend(const View& view) {
    const api::Domain& domain = view.vmi->spec.domain;
    const bool keeps_tpm = json::bool_at(domain.devices.tpm, "/persistent");
    return keeps_tpm || (domain.firmware && json::bool_at(domain.firmware->bootloader, "/efi/persistent"));
}

}  // namespace berth::placement::vmi
