// See plugs.hpp.
#include "launcher/edge/plugs.hpp"

#include <algorithm>

#include "base/ranges.hpp"
#include "launcher/edge/layout.hpp"
#include "launcher/edge/record.hpp"
#include "launcher/edge/source_probe.hpp"

namespace berth::launcher {
namespace {

std::string_view verb(Act act) {
    switch (act) {
        case Act::attach: return "attach";
        case Act::detach: return "detach";
        case Act::change_medium: return "change medium";
        case Act::grow: return "grow";
    }
    return "";
}

const std::string& name_of(const Operation& operation) {
    return operation.live.name.empty() ? operation.disk.spec.name : operation.live.name;
}
const std::string& target_of(const Operation& operation) {
    return operation.live.name.empty() ? operation.disk.target : operation.live.target;
}

}  // namespace

Plugs::Plugs(Parts parts, std::function<void()> on_change)
    : parts_(parts),
      on_change_(std::move(on_change)),
      memory_(plug_memory_from(read_text(kPlugRecord))),
      group_(parts.executor) {}

void Plugs::before_look() {
    for (auto& [name, call] : calls_) {
        if (call.state == Call::ended) call.state = Call::seen;
    }
}

std::vector<std::string> Plugs::told(const std::vector<agent::VolumePath>& volumes) const {
    std::set<std::string> out;
    for (const agent::VolumePath& volume : volumes) {
        if (volume.path.starts_with(kHotplugDisksDir)) out.insert(volume.name);
    }
    for (const auto& [name, call] : calls_) out.insert(name);
    return {out.begin(), out.end()};
}

void Plugs::pass(
    const api::VirtualMachineInstance& vmi, const std::vector<agent::VolumePath>& volumes, const LiveDomain& live
) {
    std::erase_if(calls_, [](const auto& entry) { return entry.second.state == Call::seen; });
    if (live.disks != last_live_) {
        last_live_ = live.disks;
        wishes_changed();  // a target or a port may be free
    }
    Places places;
    for (const auto& [name, call] : calls_) places[name] = call.target;
    for (const LiveDisk& disk : live.disks) places[disk.name] = disk.target;
    DiskPlan disks = plan_disks(vmi, volumes, places);

    PlugView view;
    view.desired = std::move(disks.disks);
    view.live = live.disks;
    for (const auto& [name, call] : calls_) view.busy.insert(name);
    view.unready = unready_;
    view.failures = failures_;
    view.memory = memory_;
    view.now = parts_.clock.now();
    PlugPlan plan = plan_plugs(view);

    for (const auto& [name, rule] : plan.rules) {
        if (last_rules_[name] == rule) continue;
        parts_.log.info(
            "disk decided",
            {
                {"disk", name             },
                {"rule", std::string(rule)}
        }
        );
    }
    last_rules_ = std::move(plan.rules);
    remember(std::move(plan.memory));
    failures_ = std::move(plan.failures);
    detaching_ = std::move(plan.detaching);
    errors_ = std::move(plan.errors);
    for (agent::DiskError& error : disks.errors) errors_.push_back(std::move(error));
    std::ranges::sort(errors_, {}, &agent::DiskError::name);
    look_again_at_ = plan.look_again_at;
    for (Operation& operation : plan.operations) {
        calls_[name_of(operation)] = {target_of(operation)};
        const std::string name = std::string(verb(operation.act)) + " " + name_of(operation);
        group_.spawn(name, run(std::move(operation)));
    }
    begin_sizes(live);
}

void Plugs::only_look(const LiveDomain& live) {
    detaching_.clear();
    for (const LiveDisk& disk : live.disks) {
        const auto asked = memory_.asked.find(disk.name);
        if (asked != memory_.asked.end())
            detaching_.push_back({disk.name, asked->second.since, asked->second.requests});
    }
    begin_sizes(live);
}

void Plugs::files_changed() { unready_.clear(); }

void Plugs::wishes_changed() {
    unready_.clear();
    for (auto& [name, failure] : failures_) failure.again_at = {};
}

void Plugs::remember(PlugMemory memory) {
    if (memory == memory_) return;
    memory_ = std::move(memory);
    // Before the guest is asked: whoever comes after us knows that it was.
    if (!write_text(kPlugRecord, print(memory_))) parts_.log.warn("cannot write the record of plugged disks");
}

Task<void> Plugs::run(Operation operation) {
    const Result<void> done = co_await do_one(operation);
    const std::string name = name_of(operation);
    calls_[name].state = Call::ended;
    const bool is_not_ready = !done && done.error().kind == ErrorKind::not_found;
    if (is_not_ready) unready_.insert(name);
    // Without a connection nothing is known of the call: the next look says what became of it.
    if (!done && !is_not_ready && done.error().kind != ErrorKind::unavailable) {
        const auto before = failures_.find(name);
        failures_[name] = failure_after(
            before == failures_.end() ? nullptr : &before->second, done.error().message, parts_.clock.now()
        );
    }
    if (done && operation.act == Act::grow) {
        memory_.sizes[name] = operation.disk.claim_size;
        std::erase_if(sizes_, [&](const agent::DiskReport& report) { return report.name == name; });
    }
    parts_.log.info(
        "disk call ended",
        {
            {"call",   std::string(verb(operation.act))},
            {"disk",   name                            },
            {"target", target_of(operation)            },
            {"error",
             done           ? ""
             : is_not_ready ? "not ready"
                            : done.error().message     }
    }
    );
    on_change_();
}

Task<Result<void>> Plugs::do_one(Operation operation) {
    if (operation.act == Act::detach) {
        const Result<void> asked = co_await parts_.hypervisor.detach("ua-" + operation.live.name);
        co_return asked;
    }
    if (operation.act == Act::change_medium && operation.disk.path.empty()) {
        std::string empty = medium_xml(operation.disk, operation.live);
        const Result<void> ejected = co_await parts_.hypervisor.change_medium(std::move(empty));
        co_return ejected;
    }
    const auto probe = [disk = operation.disk] { return probe_source(disk); };
    const SourceFacts facts = co_await blocking(parts_.pool, probe);
    if (!is_ready(operation.disk, facts)) co_return fail(ErrorKind::not_found, "its file or device is not there yet");
    Result<void> done;
    if (operation.act == Act::change_medium) {
        std::string medium = medium_xml(operation.disk, operation.live);
        done = co_await parts_.hypervisor.change_medium(std::move(medium));
    } else if (operation.act == Act::grow) {
        done = co_await parts_.hypervisor.grow(operation.live.target, grown_size(operation.disk, facts));
    } else {
        CO_TRY(std::string device, attach_xml(operation.disk, facts));
        done = co_await parts_.hypervisor.attach(std::move(device));
        if (!done) done.error().message = explain_attach_error(operation.disk, done.error().message);
    }
    co_return done;
}

// Sizes are asked for once for each medium, and beside everything else: libvirt answers only between two other calls.
void Plugs::begin_sizes(const LiveDomain& live) {
    std::erase_if(sizes_, [&](const agent::DiskReport& known) {
        const auto disk = std::ranges::find(live.disks, known.name, &LiveDisk::name);
        return disk == live.disks.end() || !disk->has_medium || disk->target != known.target;
    });
    if (is_reading_sizes_) return;
    std::map<std::string, agent::DiskReport> wanted;
    for (const LiveDisk& disk : live.disks) {
        if (disk.has_medium && !contains(sizes_ | std::views::transform(&agent::DiskReport::name), disk.name))
            wanted[disk.target] = {disk.name, disk.target, 0};
    }
    if (wanted.empty()) return;
    is_reading_sizes_ = true;
    group_.spawn("sizes", read_sizes(std::move(wanted)));
}

Task<void> Plugs::read_sizes(std::map<std::string, agent::DiskReport> wanted) {
    std::vector<std::string> targets;
    for (const auto& [target, report] : wanted) targets.push_back(target);
    const auto sizes = co_await parts_.hypervisor.sizes(std::move(targets));
    is_reading_sizes_ = false;
    if (!sizes) co_return;  // the next connection looks again
    for (auto& [target, report] : wanted) {
        const auto size = sizes->find(target);
        if (size != sizes->end()) report.size = size->second;
        sizes_.push_back(std::move(report));
    }
    on_change_();
}

}  // namespace berth::launcher
