#include "node/agent/plugging.hpp"

#include <algorithm>

namespace berth::node {
namespace {

PlugHost host_of(const api::Effect& effect) {
    return {
        Uid{std::string(json::text_at(effect.args, "/vmi"))},
        Uid{std::string(json::text_at(effect.args, "/pod"))},
    };
}

Plug plug_of(const api::Effect& effect) {
    Plug out{.volume = std::string(json::text_at(effect.args, "/volume"))};
    out.claim = Uid{std::string(json::text_at(effect.args, "/claim"))};
    out.attachment_pod = Uid{std::string(json::text_at(effect.args, "/attachmentPod"))};
    out.block = json::bool_at(effect.args, "/block");
    out.shared = json::bool_at(effect.args, "/shared");
    return out;
}

}  // namespace

Plugging::Plugging(Executor executor, Clock& clock, Plugs& plugs, std::function<void(const Uid&)> on_change)
    : clock_(clock), plugs_(plugs), on_change_(std::move(on_change)), group_(std::move(executor)) {}

void Plugging::fill(const Uid& pod, PlugsView& view) const {
    const auto it = hosts_.find(pod);
    if (it == hosts_.end()) return;
    view.plugs = it->second.plugs;
    view.busy.assign(it->second.busy.begin(), it->second.busy.end());
    for (const auto& [volume, failure] : it->second.failures) view.failures.push_back(failure);
    view.said = it->second.said;
}

std::optional<PlugHost> Plugging::left(const Uid& pod) const {
    const auto it = hosts_.find(pod);
    if (it == hosts_.end() || it->second.is_over) return {};
    return PlugHost{it->second.vmi, pod};
}

void Plugging::set_said(const Uid& pod, std::vector<std::string> texts) {
    const auto it = hosts_.find(pod);
    if (it != hosts_.end()) it->second.said = std::move(texts);
}

void Plugging::keep_failures(const Uid& pod, const std::set<std::string>& volumes) {
    const auto it = hosts_.find(pod);
    if (it == hosts_.end()) return;
    std::erase_if(it->second.failures, [&](const auto& entry) { return !volumes.contains(entry.first); });
}

bool Plugging::knows(std::string_view verb) {
    return verb == "look at volumes" || verb == "look at records" || verb == "plug volume" || verb == "unplug volume" ||
           verb == "unplug all";
}

Task<Result<void>> Plugging::run(api::Effect effect) {
    const PlugHost host = host_of(effect);
    Result<void> done;
    if (effect.verb == "look at records") {
        CO_TRY(recorded_, co_await plugs_.hosts());
    } else if (effect.verb == "look at volumes") {
        done = co_await look(host);
    } else if (effect.verb == "unplug all") {
        done = co_await unplug_all(host);
    } else if (effect.verb == "plug volume") {
        Plug wanted = plug_of(effect);
        hosts_[host.launcher_pod].busy.insert(wanted.volume);
        group_.spawn("plug volume", plug(host, std::move(wanted)));
    } else {
        std::string volume(json::text_at(effect.args, "/volume"));
        hosts_[host.launcher_pod].busy.insert(volume);
        group_.spawn("unplug volume", unplug(host, std::move(volume)));
    }
    co_return done;
}

Task<Result<void>> Plugging::look(PlugHost host) {
    CO_TRY(std::vector<Plug> found, co_await plugs_.look(host));
    Host& known = hosts_[host.launcher_pod];
    known.vmi = host.vmi;
    known.plugs = std::move(found);
    on_change_(host.launcher_pod);
    co_return Result<void>();
}

Task<void> Plugging::plug(PlugHost host, Plug wanted) {
    std::string volume = wanted.volume;
    Result<void> done = co_await plugs_.plug(host, std::move(wanted));
    co_await finish(host, std::move(volume), std::move(done));
}

Task<void> Plugging::unplug(PlugHost host, std::string volume) {
    Result<void> done = co_await plugs_.unplug(host, volume);
    if (done) try_conflicts_again();
    co_await finish(host, std::move(volume), std::move(done));
}

Task<void> Plugging::finish(PlugHost host, std::string volume, Result<void> done) {
    const Result<std::vector<Plug>> found = co_await plugs_.look(host);
    const auto it = hosts_.find(host.launcher_pod);
    const bool is_over = it == hosts_.end() || it->second.is_over;
    if (it != hosts_.end()) {
        Host& known = it->second;
        known.busy.erase(volume);
        if (found && !is_over) known.plugs = *found;
        if (done) {
            known.failures.erase(volume);
        } else {
            PlugFailure& failure = known.failures[volume];
            failure.count = failure.volume.empty() ? 1 : failure.count + 1;
            failure.volume = volume;
            failure.error = std::move(done.error());
            failure.at = clock_.now();
        }
        on_change_(host.launcher_pod);
    }
    // It came in the same moment as the end of its machine.
    if (is_over) co_await plugs_.unplug_all(host);
}

Task<Result<void>> Plugging::unplug_all(PlugHost host) {
    if (const auto it = hosts_.find(host.launcher_pod); it != hosts_.end()) {
        it->second.is_over = true;
        it->second.plugs.emplace();
    }
    if (recorded_) std::erase(*recorded_, host);
    const Result<void> done = co_await plugs_.unplug_all(host);
    try_conflicts_again();
    on_change_(host.launcher_pod);
    co_return done;
}

// A claim may be free now that another machine of this node had.
void Plugging::try_conflicts_again() {
    for (auto& [pod, host] : hosts_) {
        const std::size_t ended = std::erase_if(host.failures, [](const auto& entry) {
            return entry.second.error.kind == ErrorKind::conflict;
        });
        if (ended > 0) on_change_(pod);
    }
}

}  // namespace berth::node
