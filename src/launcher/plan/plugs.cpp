// See plugs.hpp. The table of one disk, and the pass over all.
#include "launcher/plan/plugs.hpp"

#include <algorithm>

#include "base/ranges.hpp"
#include "json/value.hpp"

namespace berth::launcher {
namespace {

constexpr Duration kFirstPause = std::chrono::seconds(1);
constexpr Duration kLongestPause = std::chrono::seconds(30);

/// One disk, as it should be and as it is.
struct DiskView {
    const PlugView& all;
    std::string name;
    const MachineDisk* desired = nullptr;  ///< a plugged one, or a drive
    const LiveDisk* live = nullptr;

    [[nodiscard]] const Asked* asked() const {
        const auto it = all.memory.asked.find(name);
        return it == all.memory.asked.end() ? nullptr : &it->second;
    }
    [[nodiscard]] const Failure* failure() const {
        const auto it = all.failures.find(name);
        return it == all.failures.end() ? nullptr : &it->second;
    }
};

// --- facts -----------------------------------------------------------------------------------------------------------

bool is_plugged(const LiveDisk& disk) { return disk.path.starts_with(kHotplugDisksDir); }
bool is_drive(const LiveDisk& disk) { return disk.device == "cdrom"; }
bool is_unpluggable(std::string_view bus) { return bus == "virtio" || bus == "scsi"; }

bool is_busy(const DiskView& view) { return view.all.busy.contains(view.name); }
bool is_wanted(const DiskView& view) { return view.desired != nullptr && !view.desired->path.empty(); }

// The guest has a disk of that name which is another one: other storage, or another kind of device.
bool differs(const DiskView& view) {
    return is_wanted(view) && view.live != nullptr &&
           (view.live->path != view.desired->path || view.live->device != view.desired->device ||
            view.live->bus != view.desired->bus);
}
bool must_leave(const DiskView& view) {
    return view.live != nullptr && is_plugged(*view.live) && (!is_wanted(view) || differs(view));
}
bool disk_must_leave(const DiskView& view) { return must_leave(view) && !is_drive(*view.live); }
bool disk_cannot_leave(const DiskView& view) { return disk_must_leave(view) && !is_unpluggable(view.live->bus); }
bool was_asked_just_now(const DiskView& view) {
    const Asked* const asked = view.asked();
    // A clock that was set back must not make us wait for it to come round again.
    return asked != nullptr && asked->last <= view.all.now && view.all.now < asked->last + kAskGuestAgainAfter;
}
bool guest_has_time(const DiskView& view) { return must_leave(view) && !is_wanted(view) && was_asked_just_now(view); }
bool old_one_has_time(const DiskView& view) { return disk_must_leave(view) && was_asked_just_now(view); }
bool medium_must_leave(const DiskView& view) {
    return must_leave(view) && is_drive(*view.live) && !is_wanted(view) && view.live->has_medium;
}
bool medium_must_come(const DiskView& view) {
    return is_wanted(view) && view.desired->is_plugged() && view.live != nullptr && is_drive(*view.live) &&
           view.live->path != view.desired->path;
}
bool lacks_source(const DiskView& view) {
    return is_wanted(view) && !disk_must_leave(view) && (view.live == nullptr || medium_must_come(view)) &&
           view.all.unready.contains(view.name);
}
bool is_missing(const DiskView& view) { return is_wanted(view) && view.live == nullptr; }
bool drive_is_missing(const DiskView& view) {
    return view.live == nullptr && view.desired != nullptr && view.desired->device == "cdrom";
}
bool bus_takes_none(const DiskView& view) { return is_missing(view) && !is_unpluggable(view.desired->bus); }
bool has_grown(const DiskView& view) {
    if (view.live == nullptr || view.desired == nullptr || view.desired->read_only || view.desired->format != "raw")
        return false;
    const auto known = view.all.memory.sizes.find(view.name);
    return known != view.all.memory.sizes.end() && view.desired->claim_size > known->second;
}

bool is_as_wanted(const DiskView& view) {
    const bool is_there = view.live != nullptr && !must_leave(view) && !medium_must_come(view);
    return (is_there && !has_grown(view)) || (view.live == nullptr && !is_wanted(view));
}
bool has_failed_just_now(const DiskView& view) {
    const Failure* const failure = view.failure();
    return failure != nullptr && !is_as_wanted(view) && view.all.now < failure->again_at &&
           failure->again_at <= view.all.now + kLongestPause;
}
bool always(const DiskView&) { return true; }

// --- wants -----------------------------------------------------------------------------------------------------------

void look_again(PlugPlan& plan, Timestamp at) {
    if (!plan.look_again_at || at < *plan.look_again_at) plan.look_again_at = at;
}

void nothing(const DiskView&, PlugPlan&) {}

void say(const DiskView& view, PlugPlan& plan, const std::string& what) { plan.errors.push_back({view.name, what}); }

void say_bus_keeps(const DiskView& view, PlugPlan& plan) {
    say(view, plan, "bus " + view.live->bus + " does not let a disk go while the guest runs: stop the machine");
}
void say_bus_takes_none(const DiskView& view, PlugPlan& plan) {
    say(view,
        plan,
        "bus " + view.desired->bus + " takes no disk while the guest runs: use bus scsi, or restart the machine");
}
void say_drive_is_missing(const DiskView& view, PlugPlan& plan) {
    say(view, plan, "a CD-ROM drive cannot join while the guest runs: restart the machine");
}

void wait_for_guest(const DiskView& view, PlugPlan& plan) {
    look_again(plan, view.asked()->last + kAskGuestAgainAfter);
}
void wait_after_failure(const DiskView& view, PlugPlan& plan) { look_again(plan, view.failure()->again_at); }

void ask(const DiskView& view, PlugPlan& plan) {
    Asked& asked = plan.memory.asked[view.name];
    if (asked.requests == 0) asked.since = view.all.now;
    asked.last = view.all.now;
    ++asked.requests;
}
void detach(const DiskView& view, PlugPlan& plan) {
    ask(view, plan);
    plan.operations.push_back({.act = Act::detach, .disk = {}, .live = *view.live});
}
void eject(const DiskView& view, PlugPlan& plan) {
    ask(view, plan);
    plan.operations.push_back({.act = Act::change_medium, .disk = {}, .live = *view.live});
}
void change_medium(const DiskView& view, PlugPlan& plan) {
    plan.operations.push_back({.act = Act::change_medium, .disk = *view.desired, .live = *view.live});
}
void grow(const DiskView& view, PlugPlan& plan) {
    plan.operations.push_back({.act = Act::grow, .disk = *view.desired, .live = *view.live});
}
void attach(const DiskView& view, PlugPlan& plan) {
    plan.operations.push_back({.act = Act::attach, .disk = *view.desired, .live = {}});
}

struct Line {
    std::string_view spec;
    std::string_view name;
    bool (*when)(const DiskView&);
    void (*then)(const DiskView&, PlugPlan&);
};

// The first line that applies decides for this disk.
constexpr Line kLines[] = {
    {"8.2",  "call-is-under-way",         is_busy,             nothing             },
    {"R-13", "bus-keeps-its-disk",        disk_cannot_leave,   say_bus_keeps       },
    {"8.2",  "guest-has-time",            guest_has_time,      wait_for_guest      },
    {"8.2",  "guest-has-time-for-swap",   old_one_has_time,    wait_for_guest      },
    {"8.2",  "disk-leaves",               disk_must_leave,     detach              },
    {"9.19", "medium-leaves",             medium_must_leave,   eject               },
    {"8.3",  "waits-for-its-source",      lacks_source,        nothing             },
    {"R-23", "waits-after-an-error",      has_failed_just_now, wait_after_failure  },
    {"9.19", "medium-comes",              medium_must_come,    change_medium       },
    {"9.19", "drive-is-there-since-boot", drive_is_missing,    say_drive_is_missing},
    {"8.2",  "bus-takes-no-disk",         bus_takes_none,      say_bus_takes_none  },
    {"8.2",  "disk-comes",                is_missing,          attach              },
    {"8.4",  "disk-grows",                has_grown,           grow                },
    {"8.2",  "as-wanted",                 always,              nothing             },
};

// What is not true any more is forgotten.
void remember(const DiskView& view, PlugPlan& plan) {
    if (!must_leave(view)) plan.memory.asked.erase(view.name);
    if (is_as_wanted(view)) plan.failures.erase(view.name);
    if (view.live == nullptr || !is_wanted(view)) {
        plan.memory.sizes.erase(view.name);
    } else if (view.desired->claim_size != 0) {
        std::int64_t& known = plan.memory.sizes.try_emplace(view.name, view.desired->claim_size).first->second;
        known = std::min(known, view.desired->claim_size);
    }
}

void report(const DiskView& view, PlugPlan& plan) {
    if (const Failure* const failure = view.failure(); failure != nullptr && plan.failures.contains(view.name))
        say(view, plan, failure->message);
    const auto asked = plan.memory.asked.find(view.name);
    if (asked != plan.memory.asked.end() && !is_wanted(view))
        plan.detaching.push_back({view.name, asked->second.since, asked->second.requests});
}

}  // namespace

PlugPlan plan_plugs(const PlugView& view) {
    PlugPlan plan;
    plan.memory = view.memory;
    plan.failures = view.failures;
    std::map<std::string, DiskView> disks;
    const auto disk = [&](const std::string& name) -> DiskView& {
        return disks.try_emplace(name, DiskView{view, name}).first->second;
    };
    for (const LiveDisk& live : view.live) disk(live.name).live = &live;
    for (const MachineDisk& desired : view.desired) {
        const bool is_of_interest = desired.is_plugged() || desired.device == "cdrom";
        if (is_of_interest || disks.contains(desired.spec.name)) disk(desired.spec.name).desired = &desired;
    }
    for (const auto& [name, one] : disks) {
        remember(one, plan);
        const Line& line = *std::ranges::find_if(kLines, [&](const Line& each) { return each.when(one); });
        plan.rules[name] = line.name;
        line.then(one, plan);
        report(one, plan);
    }
    const auto is_unknown = [&](const auto& entry) { return !disks.contains(entry.first); };
    std::erase_if(plan.failures, is_unknown);
    std::erase_if(plan.memory.asked, is_unknown);
    std::erase_if(plan.memory.sizes, is_unknown);
    return plan;
}

Failure failure_after(const Failure* before, std::string message, Timestamp now) {
    const Duration pause = before == nullptr ? kFirstPause : std::min(before->pause * 2, kLongestPause);
    return {std::move(message), now + pause, pause};
}

std::string print(const PlugMemory& memory) {
    json::Object asked;
    for (const auto& [name, one] : memory.asked) {
        asked[name] = json::Object{
            {"since",    to_rfc3339_micro(one.since)},
            {"last",     to_rfc3339_micro(one.last) },
            {"requests", one.requests               }
        };
    }
    json::Object sizes;
    for (const auto& [name, size] : memory.sizes) sizes[name] = size;
    return json::print(json::Object{
        {"asked", std::move(asked)},
        {"sizes", std::move(sizes)}
    });
}

PlugMemory plug_memory_from(std::string_view text) {
    PlugMemory out;
    const Result<json::Value> record = json::parse(text);
    if (!record) return out;
    if (const json::Value* list = json::find(*record, "/asked"); list != nullptr && list->is_object()) {
        for (const auto& entry : list->get_object()) {
            const auto since = from_rfc3339(json::text_at(entry.value(), "/since"));
            const auto last = from_rfc3339(json::text_at(entry.value(), "/last"));
            if (!since || !last) continue;
            out.asked[std::string(entry.key())] = {
                *since, *last, json::integer_at(entry.value(), "/requests").value_or(1)
            };
        }
    }
    if (const json::Value* list = json::find(*record, "/sizes"); list != nullptr && list->is_object()) {
        for (const auto& entry : list->get_object()) {
            if (const auto size = json::integer_at(entry.value(), "")) out.sizes[std::string(entry.key())] = *size;
        }
    }
    return out;
}

}  // namespace berth::launcher
