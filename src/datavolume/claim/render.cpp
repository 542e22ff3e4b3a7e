#include "datavolume/claim/render.hpp"

#include <algorithm>

#include "base/ranges.hpp"
#include "datavolume/names.hpp"

namespace berth::datavolume {
namespace {

using Rendered = std::expected<json::Value, Unrenderable>;

std::unexpected<Unrenderable> because(std::string message) { return std::unexpected(Unrenderable{std::move(message)}); }

struct Modes {
    std::vector<std::string> access;
    std::string volume;
};

json::Array to_array(const std::vector<std::string>& texts) {
    json::Array out;
    for (const std::string& text : texts) out.emplace_back(text);
    return out;
}

bool holds(const api::PersistentVolume& volume, const RenderInput& input) {
    const auto capacity = volume.spec.capacity.find("storage");
    return volume.status.phase == "Available" &&
           volume.spec.storage_class_name == input.spec.storage_class_name.value_or("") &&
           capacity != volume.spec.capacity.end() && bytes_or_zero(capacity->second) >= input.spec.request() &&
           (input.spec.volume_mode.empty() || input.spec.volume_mode == volume.spec.volume_mode);
}

void take_from(const std::vector<api::ClaimPropertySet>& sets, Modes& modes) {
    if (modes.access.empty()) {
        const auto it = std::ranges::find_if(sets, [&](const auto& set) {
            return !set.access_modes.empty() && (modes.volume.empty() || set.volume_mode == modes.volume);
        });
        if (it == sets.end()) return;
        modes.access = it->access_modes;
        if (modes.volume.empty()) modes.volume = it->volume_mode;
        return;
    }
    if (!modes.volume.empty()) return;
    const auto it = std::ranges::find_if(sets, [&](const auto& set) {
        return std::ranges::any_of(set.access_modes, [&](const auto& mode) { return contains(modes.access, mode); });
    });
    if (it != sets.end()) modes.volume = it->volume_mode;
}

std::expected<Modes, Unrenderable> modes_of(const RenderInput& input) {
    Modes modes{input.spec.access_modes, input.spec.volume_mode};
    const bool names_volume_mode = !modes.volume.empty();
    if (input.is_archive) modes.volume = "Filesystem";
    if (!input.storage_class) {
        const auto it = std::ranges::find_if(input.volumes, [&](const auto& volume) { return holds(volume, input); });
        if (it != input.volumes.end()) {
            if (modes.access.empty()) modes.access = it->spec.access_modes;
            if (modes.volume.empty()) modes.volume = it->spec.volume_mode;
        }
        if (modes.access.empty())
            return because("PVC spec is missing accessMode and no storageClass to choose profile");
        return modes;
    }
    take_from(property_sets(input.profile ? &*input.profile : nullptr, input.storage_class->provisioner), modes);
    if (modes.access.empty()) {
        return because(
            std::string("Spec is missing accessMode and ") + (names_volume_mode ? "" : "volumeMode, ") +
            "cannot get access mode from StorageProfile " + input.storage_class->metadata.name
        );
    }
    return modes;
}

std::expected<Bytes, Unrenderable> size_of(const RenderInput& input, const Modes& modes) {
    const auto asked = input.spec.resources.requests.find("storage");
    if (asked == input.spec.resources.requests.end()) return because("PVC Spec is not valid - missing storage size");
    const Result<Bytes> read = to_bytes(asked->second);
    if (!read || *read < 1_MiB) return because("PVC Spec is not valid - storage size should be at least 1MiB");
    Bytes size = *read;
    if (modes.volume != "Block") {
        const std::string name =
            input.storage_class ? input.storage_class->metadata.name : input.spec.storage_class_name.value_or("");
        size = required_space(input.settings.overhead_of(name), size);
    }
    if (input.profile) {
        const std::string* least = input.profile->metadata.annotation(kMinimumSize);
        if (least != nullptr) size = std::max(size, bytes_or_zero(Quantity{*least}));
    }
    return size;
}

Rendered complete(const RenderInput& input) {
    const auto modes = modes_of(input);
    if (!modes) return std::unexpected(modes.error());
    const auto size = size_of(input, *modes);
    if (!size) return std::unexpected(size.error());
    json::Value out = input.document;
    json::set(out, "/accessModes", json::Value(to_array(modes->access)));
    if (!modes->volume.empty()) json::set(out, "/volumeMode", json::Value(modes->volume));
    if (input.storage_class) json::set(out, "/storageClassName", json::Value(input.storage_class->metadata.name));
    json::set(out, "/resources/requests/storage", json::Value(quantity_of(*size).written));
    return out;
}

}  // namespace

Rendered render_claim(const RenderInput& input) {
    // An archive is unpacked into a file system; a device cannot hold it, whichever way the claim was stated.
    if (input.is_archive && input.spec.is_block()) return because("ContentType Archive cannot have block volumeMode");
    if (input.form == ClaimForm::pvc) return input.document;
    return complete(input);
}

}  // namespace berth::datavolume
