#include "hotplug/attach/needs.hpp"

#include <tuple>

#include "base/ranges.hpp"

namespace berth::hotplug::attach {
namespace {

// What is asked of every pod again and again.
struct Holder {
    const api::Pod* pod = nullptr;
    std::vector<Pair> pairs;
    bool is_ready = false;
    bool is_leaving = false;  ///< mentions something that does not stay: it will be replaced
};

struct Inventory {
    std::vector<Pair> wanted;
    std::vector<Pair> unreleased;
    std::vector<Holder> holders;
};

Inventory take(const View& view) {
    Inventory out{wanted(view), unreleased(view), {}};
    for (const api::Pod* pod : view.pods) {
        Holder holder{.pod = pod, .pairs = pairs_of(*pod), .is_ready = is_ready(*pod)};
        holder.is_leaving = std::ranges::any_of(holder.pairs, [&](const Pair& pair) {
            return !contains(out.wanted, pair) || !serves(view, *pod, pair);
        });
        out.holders.push_back(std::move(holder));
    }
    return out;
}

bool awaits_retry(const View& view, const Pair& pair) {
    return std::ranges::any_of(view.pods, [&](const api::Pod* pod) {
        return has_just_failed(view, *pod) && mentions(*pod, pair);
    });
}

bool has_lasting_pod(const View& view, const Inventory& all, const Pair& pair) {
    return std::ranges::any_of(all.holders, [&](const Holder& holder) {
        return !holder.is_leaving && serves(view, *holder.pod, pair);
    });
}

bool has_pod(const View& view, const Pair& pair) {
    return std::ranges::any_of(view.pods, [&](const api::Pod* pod) { return serves(view, *pod, pair); });
}

// One pod for all, and one for each claim that only one pod can have.
void add_contents(const View& view, const std::vector<Pair>& pairs, std::vector<std::vector<Pair>>& out) {
    std::vector<Pair> together;
    for (const Pair& pair : pairs) {
        if (needs_own_pod(view, pair)) {
            out.push_back({pair});
        } else {
            together.push_back(pair);
        }
    }
    if (!together.empty()) out.insert(out.begin(), std::move(together));
}

// Of two pods that hold the same, this one stays.
bool is_better(const Holder& a, const Holder& b) {
    const auto rank = [](const Holder& one) {
        return std::tuple(
            !one.is_leaving,
            one.pairs.size(),
            one.pod->metadata.creation_timestamp,
            std::string_view(one.pod->metadata.name)
        );
    };
    return rank(a) > rank(b);
}

bool is_held_elsewhere(const View& view, const Inventory& all, const Holder& holder, const Pair& pair) {
    return std::ranges::any_of(all.holders, [&](const Holder& other) {
        return other.pod != holder.pod && other.is_ready && is_better(other, holder) && serves(view, *other.pod, pair);
    });
}

bool is_useless(const View& view, const Inventory& all, const Holder& holder) {
    const api::Pod& pod = *holder.pod;
    if (pod.metadata.is_deleting()) return false;
    if (pod.is_terminal()) return !has_just_failed(view, pod);
    // Nothing was ever mounted through it.
    if (!has_started(pod) && holder.is_leaving) return true;
    return std::ranges::all_of(holder.pairs, [&](const Pair& pair) {
        const bool is_needed = contains(all.wanted, pair) || contains(all.unreleased, pair);
        return !is_needed || is_held_elsewhere(view, all, holder, pair);
    });
}

}  // namespace

std::vector<std::vector<Pair>> missing_pods(const View& view) {
    const Inventory all = take(view);
    std::vector<Pair> staying;
    for (const Pair& pair : all.wanted) {
        if (!has_lasting_pod(view, all, pair) && !awaits_retry(view, pair)) staying.push_back(pair);
    }
    // A pod was taken away under a volume that the guest has not let go: without one the node may detach its storage.
    std::vector<Pair> going;
    for (const Pair& pair : all.unreleased) {
        const bool has_claim = find_claim(view, pair.claim) != nullptr;
        const bool is_mounted = is_in_guest_or_pod(*entry_of(view, pair.volume));
        if (has_claim && is_mounted && !has_pod(view, pair) && !awaits_retry(view, pair)) going.push_back(pair);
    }
    std::vector<std::vector<Pair>> out;
    add_contents(view, going, out);
    add_contents(view, staying, out);
    return out;
}

std::vector<const api::Pod*> useless_pods(const View& view) {
    const Inventory all = take(view);
    std::vector<const api::Pod*> out;
    for (const Holder& holder : all.holders) {
        if (is_useless(view, all, holder)) out.push_back(holder.pod);
    }
    return out;
}

std::vector<const Disk*> missing_triggers(const View& view) {
    std::vector<const Disk*> out;
    for (const Disk& disk : view.disks) {
        if (!awaits_consumer(disk)) continue;
        const bool has_one = std::ranges::any_of(view.triggers, [&](const api::Pod* pod) {
            return !pod->metadata.is_deleting() && mentions(*pod, pair_of(disk));
        });
        if (!has_one) out.push_back(&disk);
    }
    return out;
}

std::vector<const api::Pod*> useless_triggers(const View& view) {
    std::vector<const api::Pod*> out;
    for (const api::Pod* pod : view.triggers) {
        if (pod->metadata.is_deleting()) continue;
        const bool is_needed = std::ranges::any_of(view.disks, [&](const Disk& disk) {
            return awaits_consumer(disk) && mentions(*pod, pair_of(disk));
        });
        const bool is_over = pod->is_terminal() && !has_just_failed(view, *pod);
        if (!is_needed || is_over) out.push_back(pod);
    }
    return out;
}

std::vector<Pair> mergeable(const View& view) {
    std::vector<Pair> out;
    std::size_t count = 0;
    const Inventory all = take(view);
    for (const Holder& holder : all.holders) {
        const bool is_apart =
            std::ranges::any_of(holder.pairs, [&](const Pair& pair) { return needs_own_pod(view, pair); });
        if (is_apart && is_live(*holder.pod)) continue;
        if (!holder.is_ready || holder.is_leaving) return {};
        ++count;
        for (const Pair& pair : holder.pairs) {
            if (!contains(out, pair)) out.push_back(pair);
        }
    }
    if (count < 2) return {};
    return out;
}

Timestamp merge_at(const View& view) {
    Timestamp newest{};
    for (const api::Pod* pod : view.pods) newest = std::max(newest, pod->metadata.creation_timestamp.value_or(newest));
    return newest + view.quiet_period;
}

std::optional<Timestamp> next_retry(const View& view) {
    std::optional<Timestamp> out;
    for (const auto* pods : {&view.pods, &view.triggers}) {
        for (const api::Pod* pod : *pods) {
            if (has_just_failed(view, *pod)) out = std::min(out.value_or(retry_at(*pod)), retry_at(*pod));
        }
    }
    return out;
}

}  // namespace berth::hotplug::attach
