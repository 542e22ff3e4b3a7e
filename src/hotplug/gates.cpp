#include "hotplug/gates.hpp"

#include "base/ranges.hpp"

namespace berth::hotplug {
namespace {

bool lists(const json::Value* kubevirt, std::string_view field, std::string_view gate) {
    if (kubevirt == nullptr) return false;
    const json::Value* list = json::find(*kubevirt, "/spec/configuration/developerConfiguration/" + std::string(field));
    return list != nullptr && list->is_array() && contains(list->get_array(), json::Value(gate));
}

}  // namespace

Gates gates_of(const json::Value* kubevirt) {
    const auto is_on = [&](std::string_view gate, bool by_default) {
        if (lists(kubevirt, "disabledFeatureGates", gate)) return false;
        return by_default || lists(kubevirt, "featureGates", gate);
    };
    return {
        .legacy = is_on("HotplugVolumes", false),
        .declarative = is_on("DeclarativeHotplugVolumes", true),
        .utility = is_on("UtilityVolumes", false),
        .reservation = is_on("PersistentReservation", false),
    };
}

}  // namespace berth::hotplug
