#include "hotplug/template/lists.hpp"

#include "api/codec.hpp"
#include "hotplug/admission/queue.hpp"
#include "hotplug/lists.hpp"

namespace berth::hotplug::tmpl {
namespace {

std::string_view name_of(const json::Value& entry) { return json::text_at(entry, "/name"); }

// The same whatever is left out that is so anyway.
bool differs(const json::Value& a, const json::Value& b) {
    const auto left = api::decode<api::VmVolume>(a);
    const auto right = api::decode<api::VmVolume>(b);
    return !left || !right || *left != *right;
}

/// Both sides, as lists.
struct Sides {
    Lists wanted;
    Lists running;
    const json::Array& statuses;

    // A plugged volume that the template lacks, or has with another source.
    [[nodiscard]] bool leaves(const json::Value& volume) const {
        if (!is_hotpluggable(volume)) return false;
        const json::Value* in_template = named(wanted.volumes, name_of(volume));
        if (in_template == nullptr) return true;
        return is_hotpluggable(*in_template) && differs(*in_template, volume);
    }
    // Only after the last trace of an earlier volume of its name is gone.
    [[nodiscard]] bool comes(const json::Value& volume) const {
        const std::string_view name = name_of(volume);
        if (!is_hotpluggable(volume) || named(running.volumes, name) != nullptr || named(statuses, name) != nullptr)
            return false;
        // A drive is not plugged in: a machine that lacks it gets it at its next start.
        const json::Value* disk = named(wanted.disks, name);
        return disk == nullptr || !is_cdrom(*disk) || named(running.disks, name) != nullptr;
    }
    [[nodiscard]] bool keeps(const json::Value& disk, const json::Array& volumes) const {
        const std::string_view name = name_of(disk);
        if (named(volumes, name) != nullptr) return true;
        const json::Value* in_template = named(wanted.disks, name);
        if (in_template == nullptr) return false;
        const bool is_swapped = named(wanted.volumes, name) != nullptr;
        return !is_swapped || (is_cdrom(disk) && is_cdrom(*in_template));
    }
};

}  // namespace

Lists lists_of(const json::Value& spec) { return {list_at(spec, kVolumes), list_at(spec, kDisks)}; }

Lists follow_template(const View& view) {
    const json::Value* spec = json::find(*view.vmi_document, "/spec");
    const json::Value* wanted = json::find(*view.vm_document, "/spec/template/spec");
    if (spec == nullptr || wanted == nullptr) return {};
    const Sides sides{lists_of(*wanted), lists_of(*spec), list_at(*view.vmi_document, "/status/volumeStatus")};
    Lists out;
    for (const json::Value& volume : sides.running.volumes) {
        if (!sides.leaves(volume)) out.volumes.push_back(volume);
    }
    for (const json::Value& volume : sides.wanted.volumes) {
        if (sides.comes(volume)) out.volumes.push_back(volume);
    }
    for (const json::Value& disk : sides.running.disks) {
        if (sides.keeps(disk, out.volumes)) out.disks.push_back(disk);
    }
    for (const json::Value& disk : sides.wanted.disks) {
        const json::Value* volume = named(out.volumes, name_of(disk));
        const bool is_new = named(sides.running.disks, name_of(disk)) == nullptr;
        if (is_new && volume != nullptr && is_hotpluggable(*volume)) out.disks.push_back(disk);
    }
    return out;
}

Lists with_queue(const View& view, const json::Value& spec) {
    return lists_of(with_requests(spec, list_at(*view.vm_document, "/status/volumeRequests")));
}

}  // namespace berth::hotplug::tmpl
