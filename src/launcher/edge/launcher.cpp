// See launcher.hpp.
#include "launcher/edge/launcher.hpp"

#include <algorithm>

#include <unistd.h>

#include "api/codec.hpp"
#include "base/async/task_group.hpp"
#include "launcher/edge/layout.hpp"
#include "launcher/edge/prepare.hpp"
#include "launcher/edge/record.hpp"
#include "launcher/plan/domain.hpp"

namespace berth::launcher {
namespace {

using namespace std::chrono_literals;

constexpr Duration kAskAgainAfter = 3s;  // a guest that boots loses the power button
constexpr Duration kFirstCooling = 1s;
constexpr Duration kLongestCooling = 30s;
constexpr Duration kDeliveryLimit = 5s;

std::string last_words(const agent::Report& report, const Decision& decision) {
    if (decision.ending == Ending::crashed)
        return report.error.empty() ? "the guest ended without being asked to: " + report.reason : report.error;
    if (report.reason == "guest") return "the guest powered itself off";
    if (report.reason == "shutdown") return "the guest was shut down";
    if (report.reason == "destroyed") return "the guest was destroyed";
    return "no guest was started";
}

}  // namespace

Launcher::Launcher(Parts parts, Options options)
    : parts_(parts),
      options_(std::move(options)),
      board_(parts.executor),
      news_(parts.executor),
      guest_changed_(parts.executor),
      hypervisor_(
          parts.executor,
          parts.pool,
          parts.disk_pool,
          parts.clock,
          parts.log,
          kLibvirtUri,
          domain_name(options_.ns, options_.name),
          [this] { news_.notify(); }
      ),
      cooling_(kFirstCooling),
      plugs_({parts.executor, parts.disk_pool, parts.clock, parts.log, hypervisor_}, [this] { news_.notify(); }) {
    const std::string record = read_text(kStartRecord);
    was_started_ = !record.empty();
    start_succeeded_ = record == "started";
    if (options_.stopping_until) ask_ = Ask::shutdown;
}

std::int64_t Launcher::sync(const json::Value& document, std::vector<agent::VolumePath> volumes) {
    ++syncs_;
    take_over(document, std::move(volumes));
    news_.notify();
    return syncs_;
}

void Launcher::take_over(const json::Value& document, std::vector<agent::VolumePath> volumes) {
    auto vmi = api::decode<api::VirtualMachineInstance>(document);
    if (!vmi) return failed(std::move(vmi).error());
    if (!options_.vmi_uid.empty() && vmi->metadata.uid != options_.vmi_uid) {
        return failed(
            {ErrorKind::invalid,
             "the pod belongs to machine " + options_.vmi_uid.value + ", not to " + vmi->metadata.uid.value}
        );
    }
    DiskPlan plan = plan_disks(*vmi, volumes);
    if (!plan.errors.empty() && !was_started_)
        return failed({ErrorKind::invalid, std::move(plan.errors.front().message)});
    const bool is_changed = !vmi_ || vmi_->spec != vmi->spec || volumes_ != volumes;
    vmi_ = std::move(*vmi);
    volumes_ = std::move(volumes);
    plan_ = std::move(plan);
    if (is_changed) {
        is_prepared_ = false;
        cools_until_.reset();
        if (!was_started_) error_.clear();
    }
    plugs_.wishes_changed();
}

void Launcher::look_again() {
    plugs_.files_changed();
    news_.notify();
}

void Launcher::shutdown() {
    if (ask_ == Ask::nothing) ask_ = Ask::shutdown;
    news_.notify();
}

void Launcher::destroy() {
    ask_ = Ask::destroy;
    news_.notify();
}

void Launcher::stop() {
    if (!options_.stopping_until) options_.stopping_until = parts_.clock.monotonic() + options_.grace;
    shutdown();
}

void Launcher::failed(Error error) {
    parts_.log.error(
        "cannot do what the machine asks for",
        {
            {"error", error.message}
    }
    );
    error_ = std::move(error.message);
    cools_until_ = parts_.clock.monotonic() + cooling_;
    cooling_ = std::min(cooling_ * 2, kLongestCooling);
    news_.notify();
}

void Launcher::note_guest(bool is_on) {
    if (is_guest_on_ == is_on) return;
    is_guest_on_ = is_on;
    guest_changed_.notify();
}

Task<int> Launcher::run() {
    while (true) {
        const Seen seen = co_await look();
        note_guest(seen.is_active());
        // Without a connection nothing is known: what was true a moment ago is the better report.
        const bool is_blind = seen.domain == DomainState::unknown && was_started_;
        if (!is_blind) {
            tell_plugs(seen);
            board_.publish(report(seen));
        }
        const Decision decision = decide(seen);
        if (decision.rule != last_rule_) {
            parts_.log.info(
                "decided",
                {
                    {"rule",      std::string(decision.rule)     },
                    {"waits_for", std::string(decision.waits_for)}
            }
            );
        }
        last_rule_ = decision.rule;
        if (decision.step == Step::end) {
            write_text(kLastWords, last_words(board_.report, decision));
            co_await deliver_last_report();
            co_return decision.ending == Ending::crashed ? kExitCrashed : kExitDone;
        }
        if (decision.step == Step::wait) {
            co_await wait_for_news(seen);
        } else {
            co_await do_step(decision.step);
        }
    }
}

// A guest that runs gets its plugged disks; while one is only starting, libvirt has no list of them yet.
void Launcher::tell_plugs(const Seen& seen) {
    const bool is_on = seen.domain == DomainState::running || seen.domain == DomainState::paused;
    if (is_on && vmi_) plugs_.pass(*vmi_, volumes_, observed_.live);
    if (is_on && !vmi_) plugs_.only_look(observed_.live);
}

agent::Report Launcher::report(const Seen& seen) const {
    agent::Report out = report_of(seen, observed_.live, plugs_.sizes());
    out.syncs = syncs_;
    out.told = plugs_.told(volumes_);
    if (!seen.is_active()) return out;
    out.detaching = plugs_.detaching();
    out.disk_errors = plugs_.errors();
    return out;
}

Task<Seen> Launcher::look() {
    plugs_.before_look();
    Result<Observed> observed = co_await hypervisor_.look();
    observed_ = observed ? *std::move(observed) : Observed{};
    const Monotonic now = parts_.clock.monotonic();
    if (options_.stopping_until && now >= *options_.stopping_until) ask_ = Ask::destroy;

    Seen seen;
    seen.domain = observed_.state;
    seen.domain_reason = observed_.reason;
    seen.was_started = was_started_;
    seen.start_succeeded = start_succeeded_;
    seen.has_run_qemu = ::access(qemu_log().c_str(), F_OK) == 0;
    seen.has_spec = vmi_.has_value();
    seen.waits_for = plan_.waits_for;
    if (vmi_ && !was_started_) {
        for (std::string& path : missing_files(plan_.disks)) seen.waits_for.push_back(std::move(path));
    }
    seen.is_prepared = is_prepared_;
    seen.is_cooling = cools_until_ && now < *cools_until_;
    seen.error = error_;
    seen.ask = ask_;
    seen.has_asked_guest = asked_at_.has_value();
    seen.may_ask_again = !asked_at_ || now >= *asked_at_ + kAskAgainAfter;
    seen.ends_when_idle = options_.stopping_until.has_value();
    co_return seen;
}

Task<void> Launcher::wait_for_news(const Seen& seen) {
    const Monotonic now = parts_.clock.monotonic();
    std::optional<Monotonic> until = options_.stopping_until;
    const auto consider = [&until](std::optional<Monotonic> at) {
        if (at && (!until || *at < *until)) until = at;
    };
    if (ask_ == Ask::destroy) until.reset();
    if (seen.is_cooling) consider(cools_until_);
    if (asked_at_ && ask_ == Ask::shutdown && seen.is_active()) consider(*asked_at_ + kAskAgainAfter);
    if (const std::optional<Timestamp> at = plugs_.look_again_at(); at && seen.is_active())
        consider(now + std::max<Duration>(*at - parts_.clock.now(), 0ms));
    if (!until) {
        co_await news_.wait();
        co_return;
    }
    const Duration left = std::max<Duration>(*until - now, 1ms);
    co_await finishes_within(parts_.clock, left, news_.wait());
}

Task<void> Launcher::do_step(Step step) {
    Result<void> done;
    switch (step) {
        case Step::wait:
        case Step::end: break;
        case Step::forget_start: forget_start(); break;
        case Step::prepare: co_await prepare_disks(); break;
        case Step::start: co_await start_guest(); break;
        case Step::press_power_button:
            asked_at_ = parts_.clock.monotonic();
            done = co_await hypervisor_.shutdown();
            break;
        case Step::destroy:
            done = co_await hypervisor_.destroy();
            if (done) co_await news_.wait();  // the event of its end
            break;
    }
    if (done) co_return;
    parts_.log.warn(
        "libvirt refused",
        {
            {"error", done.error().message}
    }
    );
    co_await parts_.clock.sleep_for(100ms);
}

Task<void> Launcher::prepare_disks() {
    const auto work = [disks = plan_.disks] { return prepare(disks); };
    const std::vector<MachineDisk> planned = plan_.disks;
    Result<Prepared> prepared = co_await blocking(parts_.pool, work);
    if (planned != plan_.disks) co_return;  // another sync came meanwhile
    if (!prepared) {
        failed(std::move(prepared).error());
        co_return;
    }
    without_direct_io_ = std::move(prepared->without_direct_io);
    is_prepared_ = true;
}

Task<void> Launcher::start_guest() {
    DomainInput input;
    input.vmi = *vmi_;
    input.disks = plan_.disks;
    input.without_direct_io = without_direct_io_;
    input.accelerator = options_.accelerator;
    Result<std::string> xml = domain_xml(input);
    if (!xml) {
        failed(std::move(xml).error());
        co_return;
    }
    // The record comes first: whatever dies from here on, no second guest is started.
    if (!write_text(kStartRecord, "starting")) {
        failed({ErrorKind::io, "cannot write the record of the start: is /run full?"});
        co_return;
    }
    was_started_ = true;
    agent::Report starting = board_.report;
    starting.state = "starting";
    starting.error.clear();
    board_.publish(std::move(starting));
    const Result<void> started = co_await hypervisor_.start(*std::move(xml));
    if (started) {
        start_succeeded_ = true;
        error_.clear();
        write_text(kStartRecord, "started");
        co_return;
    }
    // Only an answer of libvirt proves that nothing runs; a lost connection proves nothing.
    if (started.error().kind != ErrorKind::unavailable) {
        forget_start();
    }
    failed(started.error());
}

std::string Launcher::qemu_log() const {
    return std::string(kQemuLogDir) + "/" + domain_name(options_.ns, options_.name) + ".log";
}

void Launcher::forget_start() {
    was_started_ = false;
    ::unlink(kStartRecord);
    ::unlink(qemu_log().c_str());
}

Task<void> Launcher::deliver_last_report() {
    const Monotonic until = parts_.clock.monotonic() + kDeliveryLimit;
    while (board_.delivered_version < board_.version && parts_.clock.monotonic() < until) {
        const Duration left = std::max<Duration>(until - parts_.clock.monotonic(), 1ms);
        co_await finishes_within(parts_.clock, left, board_.delivered.wait());
    }
}

}  // namespace berth::launcher
