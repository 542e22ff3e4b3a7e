#include "json/diff.hpp"

namespace berth::json {

std::optional<Value> merge_patch_between(const Value& from, const Value& to) {
    if (from == to) return {};
    if (!from.is_object() || !to.is_object()) return to;
    Object patch;
    for (const auto& [key, wanted] : to.get_object()) {
        const Value* had = from.get_object().if_contains(key);
        if (had == nullptr) {
            patch[key] = wanted;
        } else if (auto inner = merge_patch_between(*had, wanted)) {
            patch[key] = std::move(*inner);
        }
    }
    for (const auto& [key, had] : from.get_object()) {
        if (!to.get_object().contains(key)) patch[key] = nullptr;
    }
    if (patch.empty()) return {};
    return Value(std::move(patch));
}

void apply_merge_patch(Value& target, const Value& patch) {
    if (!patch.is_object()) {
        target = patch;
        return;
    }
    if (!target.is_object()) target = Object();
    Object& object = target.get_object();
    for (const auto& [key, wanted] : patch.get_object()) {
        if (wanted.is_null()) {
            object.erase(key);
        } else {
            apply_merge_patch(object[key], wanted);
        }
    }
}

}  // namespace berth::json
