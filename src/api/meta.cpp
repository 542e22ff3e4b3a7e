#include "api/meta.hpp"

#include "api/codec_impl.hpp"
#include "api/meta_fields.hpp"
#include "base/ranges.hpp"

namespace berth::api {

const OwnerReference* ObjectMeta::controller() const {
    const auto it = std::ranges::find_if(owner_references, &OwnerReference::controller);
    return it == owner_references.end() ? nullptr : &*it;
}

bool ObjectMeta::is_controlled_by(const Uid& owner) const {
    const OwnerReference* reference = controller();
    return reference != nullptr && reference->uid == owner;
}

const std::string* ObjectMeta::annotation(const std::string& key) const {
    const auto it = annotations.find(key);
    return it == annotations.end() ? nullptr : &it->second;
}

const std::string* ObjectMeta::label(const std::string& key) const {
    const auto it = labels.find(key);
    return it == labels.end() ? nullptr : &it->second;
}

bool ObjectMeta::has_finalizer(std::string_view finalizer) const { return contains(finalizers, finalizer); }

const Condition* find_condition(const std::vector<Condition>& conditions, std::string_view type) {
    const auto it = std::ranges::find(conditions, type, &Condition::type);
    return it == conditions.end() ? nullptr : &*it;
}

bool matches(const SelectorRequirement& requirement, const std::map<std::string, std::string>& labels) {
    const auto it = labels.find(requirement.key);
    const bool present = it != labels.end();
    const auto listed = [&] { return present && contains(requirement.values, it->second); };
    const auto compared = [&](auto order) {
        if (!present || requirement.values.size() != 1) return false;
        const auto left = milli_value(it->second);
        const auto right = milli_value(requirement.values.front());
        return left && right && order(*left, *right);
    };
    if (requirement.op == "In") return listed();
    if (requirement.op == "NotIn") return !listed();
    if (requirement.op == "Exists") return present;
    if (requirement.op == "DoesNotExist") return !present;
    if (requirement.op == "Gt") return compared(std::greater<>());
    if (requirement.op == "Lt") return compared(std::less<>());
    return false;
}

bool matches(const LabelSelector& selector, const std::map<std::string, std::string>& labels) {
    const auto has = [&](const auto& pair) {
        const auto it = labels.find(pair.first);
        return it != labels.end() && it->second == pair.second;
    };
    return std::ranges::all_of(selector.match_labels, has) &&
           std::ranges::all_of(selector.match_expressions, [&](const auto& r) { return matches(r, labels); });
}

BERTH_CODEC(ObjectMeta);
BERTH_CODEC(Bare);
BERTH_CODEC(Condition);
BERTH_CODEC(LabelSelector);

}  // namespace berth::api
