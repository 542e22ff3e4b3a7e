#include "placement/vm/facts.hpp"

#include "base/ranges.hpp"
#include "placement/names.hpp"

namespace berth::placement::vm {

std::string run_strategy(const api::VirtualMachine& vm) {
    if (!vm.spec.run_strategy.empty()) return vm.spec.run_strategy;
    if (!vm.spec.running) return {};
    return *vm.spec.running ? "Always" : "Halted";
}

bool is_deleted(const View& view) { return view.vm->metadata.is_deleting(); }
bool has_vmi(const View& view) { return view.vmi != nullptr; }
bool vmi_is_final(const View& view) { return view.vmi != nullptr && view.vmi->is_final(); }
bool vmi_is_deleting(const View& view) { return view.vmi != nullptr && view.vmi->metadata.is_deleting(); }

bool stop_is_requested(const View& view) {
    if (view.vmi == nullptr) return false;
    return std::ranges::any_of(view.vm->status.state_change_requests, [&](const api::StateChangeRequest& request) {
        return request.action == "Stop" && request.uid == view.vmi->metadata.uid;
    });
}

const api::StateChangeRequest* start_request(const View& view) {
    const auto& requests = view.vm->status.state_change_requests;
    const auto it = std::ranges::find(requests, "Start", &api::StateChangeRequest::action);
    return it == requests.end() ? nullptr : &*it;
}

bool makes_disks_early(const View& view) {
    const std::string* early = view.vm->metadata.annotation(kImmediateDisks);
    return early == nullptr || *early != "false";
}

bool is_backing_off(const View& view) {
    const auto& failure = view.vm->status.start_failure;
    return failure && failure->retry_after_timestamp && view.now < *failure->retry_after_timestamp;
}

bool is_set_to_start(const View& view) {
    const std::string strategy = run_strategy(*view.vm);
    if (strategy == "Always") return true;
    if (strategy == "Manual") return has_vmi(view) ? !stop_is_requested(view) : start_request(view) != nullptr;
    if (strategy == "RerunOnFailure") {
        if (has_vmi(view)) return view.vmi->status.phase != "Succeeded";
        return start_request(view) != nullptr || view.vm->status.run_strategy != strategy;
    }
    if (strategy == "Once") return !has_vmi(view);
    return false;
}

bool has_been(const api::VirtualMachineInstance& vmi, std::string_view phase) {
    return vmi.status.phase == phase ||
           contains(
               vmi.status.phase_transition_timestamps | std::views::transform(&api::PhaseTransition::phase), phase
           );
}

// A transfer that is over, waits or is being set up also shows Running=False; only these reasons mean that it failed.
bool is_transfer_error(std::string_view reason) {
    constexpr std::string_view kWhole[] = {"ImagePullBackOff", "InvalidImageName", "OOMKilled", "ContainerCannotRun"};
    constexpr std::string_view kEndings[] = {
        "Error", "Failed", "NotSupported", "Invalid", "Refused", "Mismatch", "TooSmall", "TooLarge"
    };
    return reason.starts_with("Err") || contains(kWhole, reason) ||
           std::ranges::any_of(kEndings, [&](std::string_view ending) { return reason.ends_with(ending); });
}

}  // namespace berth::placement::vm
