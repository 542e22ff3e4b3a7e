#include "node/plan/plugs.hpp"

#include "base/ranges.hpp"

namespace berth::node {
namespace {

using namespace std::chrono_literals;

// An attachment pod answers within some 20 ms of its container's start; a missing file is a person's to bring.
constexpr Duration kFirstPause = 10ms;
constexpr Duration kPause = 1s;

const api::PersistentVolumeClaim* claim_of(const View& view, const api::VmVolume& volume) {
    const std::string name = volume.claim_name();
    const auto it = std::ranges::find_if(view.claims, [&](const auto& claim) { return claim.metadata.name == name; });
    return it == view.claims.end() ? nullptr : &*it;
}

const api::VmVolumeStatus* status_of(const View& view, const std::string& volume) {
    const auto it = std::ranges::find(view.vmi->status.volume_status, volume, &api::VmVolumeStatus::name);
    return it == view.vmi->status.volume_status.end() ? nullptr : &*it;
}

bool is_busy(const View& view, std::string_view volume) { return contains(view.hotplug.busy, volume); }

const PlugFailure* failure_of(const View& view, const std::string& volume) {
    const auto it = std::ranges::find(view.hotplug.failures, volume, &PlugFailure::volume);
    return it == view.hotplug.failures.end() ? nullptr : &*it;
}

Timestamp next_try(const PlugFailure& failure) {
    if (failure.error.kind != ErrorKind::unavailable) return failure.at + kPause;
    Duration pause = kFirstPause;
    for (int i = 1; i < failure.count && pause < kPause; ++i) pause *= 2;
    return failure.at + std::min(pause, kPause);
}

/// The pod that the volume's own status names shows this claim under this name. Never another volume's pod, and
/// never the pod of the claim that the name stood for before.
bool shows_claim(const api::Pod& pod, const std::string& volume, const std::string& claim) {
    return std::ranges::any_of(pod.spec.volumes, [&](const api::PodVolume& one) {
        return one.name == volume && one.persistent_volume_claim && one.persistent_volume_claim->claim_name == claim;
    });
}

/// How a volume of the spec can be plugged now; none: its pod or claim is not there yet.
std::optional<Plug> pluggable(const View& view, const api::VmVolume& volume) {
    const api::VmVolumeStatus* status = status_of(view, volume.name);
    if (status == nullptr || !status->hotplug_volume || status->hotplug_volume->attach_pod_uid.empty()) return {};
    const api::PersistentVolumeClaim* claim = claim_of(view, volume);
    if (claim == nullptr) return {};
    const Uid& pod = status->hotplug_volume->attach_pod_uid;
    const auto it = std::ranges::find_if(view.hotplug.attachment_pods, [&](const api::Pod& one) {
        return one.metadata.uid == pod;
    });
    if (it == view.hotplug.attachment_pods.end() || !shows_claim(*it, volume.name, claim->metadata.name)) return {};
    Plug out{.volume = volume.name, .claim = claim->metadata.uid, .attachment_pod = pod};
    out.block = claim->spec.is_block();
    out.shared = contains(claim->spec.access_modes, "ReadWriteMany");
    return out;
}

api::Effect effect(const View& view, std::string verb, json::Object args) {
    args["pod"] = view.launcher->metadata.uid.value;
    args["vmi"] = view.vmi->metadata.uid.value;
    std::string on = api::print(view.key);
    if (args.contains("volume")) on += "/" + std::string(args["volume"].as_string());
    return {std::move(verb), std::move(on), std::move(args)};
}

api::Effect plug_effect(const View& view, const Plug& plug) {
    return effect(
        view,
        "plug volume",
        {
            {"volume",        plug.volume              },
            {"claim",         plug.claim.value         },
            {"attachmentPod", plug.attachment_pod.value},
            {"block",         plug.block               },
            {"shared",        plug.shared              }
    }
    );
}

void look_again(api::Plan& plan, Timestamp at) {
    plan.look_again_at = plan.look_again_at ? std::min(*plan.look_again_at, at) : at;
}

/// Nothing is under way with the volume and it did not fail a moment ago; else says when to look again.
bool may_try(const View& view, const std::string& volume, api::Plan& plan) {
    if (is_busy(view, volume)) return false;
    const PlugFailure* failure = failure_of(view, volume);
    if (failure == nullptr || next_try(*failure) <= view.now) return true;
    look_again(plan, next_try(*failure));
    return false;
}

void add_plugs(const View& view, api::Plan& plan) {
    for (const api::VmVolume& volume : view.vmi->spec.volumes) {
        if (!volume.is_hotpluggable()) continue;
        const Plug* known = find_plug(view, volume.name);
        const bool is_known = known != nullptr && known->in_place && !known->claim.empty();
        if (is_known || (known != nullptr && !is_wanted(view, *known))) continue;
        const std::optional<Plug> wanted = pluggable(view, volume);
        if (wanted && may_try(view, volume.name, plan)) plan.add(plug_effect(view, *wanted));
    }
}

void add_unplugs(const View& view, api::Plan& plan) {
    for (const Plug& plug : *view.hotplug.plugs) {
        if (is_wanted(view, plug) || !is_let_go(view, plug.volume)) continue;
        if (!may_try(view, plug.volume, plan)) continue;
        plan.add(effect(
            view,
            "unplug volume",
            {
                {"volume", plug.volume}
        }
        ));
    }
}

}  // namespace

bool has_plugged_volumes(const View& view) {
    return std::ranges::any_of(view.vmi->spec.volumes, &api::VmVolume::is_hotpluggable) ||
           std::ranges::any_of(view.vmi->status.volume_status, [](const api::VmVolumeStatus& status) {
               return status.hotplug_volume.has_value();
           });
}

bool is_wanted(const View& view, const Plug& plug) {
    const auto volume = std::ranges::find(view.vmi->spec.volumes, plug.volume, &api::VmVolume::name);
    if (volume == view.vmi->spec.volumes.end() || !volume->is_hotpluggable()) return false;
    const api::PersistentVolumeClaim* claim = claim_of(view, *volume);
    // A claim that cannot be seen, here or in the record, proves nothing: what the guest has stays.
    return claim == nullptr || plug.claim.empty() || claim->metadata.uid == plug.claim;
}

const Plug* find_plug(const View& view, std::string_view volume) {
    if (!view.hotplug.plugs) return nullptr;
    const auto it = std::ranges::find(*view.hotplug.plugs, volume, &Plug::volume);
    return it == view.hotplug.plugs->end() ? nullptr : &*it;
}

std::vector<Plug> told_plugs(const View& view) {
    std::vector<Plug> out = view.hotplug.plugs.value_or(std::vector<Plug>());
    if (!view.report) return out;
    const auto live = view.report->disks | std::views::transform(&agent::DiskReport::name);
    for (Plug& plug : out) plug.in_place = plug.in_place || contains(live, plug.volume);
    return out;
}

bool is_let_go(const View& view, const std::string& volume) {
    if (!view.report || !view.hotplug.has_caught_up) return false;
    const agent::Report& report = *view.report;
    return !contains(report.disks | std::views::transform(&agent::DiskReport::name), volume) &&
           !contains(report.detaching | std::views::transform(&agent::Detaching::name), volume) &&
           !contains(report.told, volume);
}

std::optional<std::string> missing_at_start(const View& view) {
    for (const api::VmVolume& volume : view.vmi->spec.volumes) {
        if (!volume.is_hotpluggable()) continue;
        const Plug* plug = find_plug(view, volume.name);
        if (plug == nullptr || !plug->in_place || !is_wanted(view, *plug)) return volume.name;
    }
    return {};
}

void add_plug_work(const View& view, api::Plan& plan) {
    if (!has_plugged_volumes(view) || view.hotplug.is_ambiguous) return;
    if (!view.hotplug.plugs) {
        plan.add(effect(view, "look at volumes", {}));
        return;
    }
    add_plugs(view, plan);
    add_unplugs(view, plan);
}

void add_unplug_all(const View& view, api::Plan& plan) {
    const bool has_some = !view.hotplug.plugs || !view.hotplug.plugs->empty() || !view.hotplug.busy.empty();
    if (has_plugged_volumes(view) && has_some) plan.add(effect(view, "unplug all", {}));
}

void add_left_plugs(const View& view, api::Plan& plan) {
    for (const PlugHost& host : view.hotplug.left) {
        json::Object args{
            {"pod", host.launcher_pod.value},
            {"vmi", host.vmi.value         }
        };
        plan.add(api::Effect{"unplug all", api::print(view.key), std::move(args)});
    }
}

std::vector<Trouble> troubles(const View& view) {
    std::vector<Trouble> out;
    for (const PlugFailure& failure : view.hotplug.failures) {
        if (failure.error.kind == ErrorKind::unavailable) continue;  // a moment early
        const bool lacks_image = failure.error.kind == ErrorKind::not_found;
        out.push_back({lacks_image ? "HotplugFailed" : "SyncFailed", failure.error.message});
    }
    if (!view.report) return out;
    for (const agent::DiskError& error : view.report->disk_errors) {
        out.push_back({"SyncFailed", "volume " + error.name + ": " + error.message});
    }
    return out;
}

}  // namespace berth::node
