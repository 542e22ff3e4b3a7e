#include "placement/conditions.hpp"

#include <algorithm>

namespace berth::placement {
namespace {

api::Condition* find(std::vector<api::Condition>& conditions, std::string_view type) {
    const auto it = std::ranges::find(conditions, type, &api::Condition::type);
    return it == conditions.end() ? nullptr : &*it;
}

void put(std::vector<api::Condition>& conditions, api::Condition* known, api::Condition condition) {
    if (known == nullptr) {
        conditions.push_back(std::move(condition));
        return;
    }
    // The moment of transition is that of the status.
    if (known->status == condition.status && known->last_transition_time)
        condition.last_transition_time = known->last_transition_time;
    *known = std::move(condition);
}

}  // namespace

bool update_condition(std::vector<api::Condition>& conditions, api::Condition condition) {
    api::Condition* known = find(conditions, condition.type);
    if (known != nullptr && known->status == condition.status && known->reason == condition.reason) return false;
    put(conditions, known, std::move(condition));
    return true;
}

bool refresh_condition(std::vector<api::Condition>& conditions, api::Condition condition) {
    api::Condition* known = find(conditions, condition.type);
    if (known != nullptr && known->status == condition.status && known->reason == condition.reason &&
        known->message == condition.message) {
        return false;
    }
    put(conditions, known, std::move(condition));
    return true;
}

void remove_condition(std::vector<api::Condition>& conditions, std::string_view type) {
    std::erase_if(conditions, [&](const api::Condition& condition) { return condition.type == type; });
}

bool has_condition(const std::vector<api::Condition>& conditions, std::string_view type, std::string_view status) {
    const api::Condition* condition = api::find_condition(conditions, type);
    return condition != nullptr && condition->status == status;
}

}  // namespace berth::placement
