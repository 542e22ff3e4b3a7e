#include "node/plan/records.hpp"

#include "base/ranges.hpp"

namespace berth::node {
namespace {

bool has_not_looked(const RecordsView& view) { return !view.recorded; }

api::Plan look(const RecordsView& view) {
    return api::want(api::Effect{"look at records", api::print(view.key), json::Object{}});
}

/// Of a damaged record only the machine is known.
bool lives(const RecordsView& view, const PlugHost& host) {
    if (!host.launcher_pod.empty()) return contains(view.living, host);
    return contains(view.living | std::views::transform(&PlugHost::vmi), host.vmi);
}

api::Plan clean(const RecordsView& view) {
    api::Plan plan;
    for (const PlugHost& host : *view.recorded) {
        if (lives(view, host)) continue;
        json::Object args{
            {"pod", host.launcher_pod.value},
            {"vmi", host.vmi.value         }
        };
        plan.add(api::Effect{"unplug all", api::print(view.key), std::move(args)});
    }
    return plan;
}

constexpr api::Rule<RecordsView> kRecords[] = {
    {"7.7",  "records-are-read-once",          has_not_looked,           look },
    {"H-40", "records-end-with-their-machine", api::always<RecordsView>, clean},
};

}  // namespace

api::Plan clean_records(const RecordsView& view) { return api::first_match(kRecords, view); }

}  // namespace berth::node
