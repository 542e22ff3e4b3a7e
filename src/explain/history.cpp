#include "explain/history.hpp"

#include <cstdio>
#include <map>
#include <set>

#include "api/codec.hpp"
#include "explain/milestones.hpp"

namespace berth::explain {
namespace {

struct Seen {
    const api::Kind& kind;
    json::Value object;
};

template <class T>
void add(const api::Kind& kind, const std::vector<T>& objects, std::vector<Seen>* out) {
    for (const T& object : objects) out->push_back({kind, api::encode(object)});
}

std::vector<Seen> objects_of(const View& view) {
    std::vector<Seen> out;
    if (view.vm) out.push_back({api::kVirtualMachine, api::encode(*view.vm)});
    if (view.vmi) out.push_back({api::kVmi, api::encode(*view.vmi)});
    add(api::kDataVolume, view.data_volumes, &out);
    add(api::kClaim, view.claims, &out);
    add(api::kVolume, view.volumes, &out);
    add(api::kPod, view.pods, &out);
    return out;
}

// --- Events
// --------------------------------------------------------------------------------------------------------------

std::string text(const json::Value& event, std::string_view pointer) {
    return std::string(json::text_at(event, pointer));
}

// Which of the namespace's events belong to the machine: those about its objects, and about pods of its that are gone.
class Kin {
public:
    Kin(const View& view, const std::vector<Seen>& objects, const std::vector<json::Value>& events) {
        for (const Seen& seen : objects) uids_.insert(text(seen.object, "/metadata/uid"));
        uids_.erase("");
        machine_ = view.vmi ? view.vmi->metadata.name : view.vm ? view.vm->metadata.name : "";
        for (const api::PersistentVolumeClaim& claim : view.claims) workers_.insert("importer-" + claim.metadata.name);
        for (const json::Value& event : events) {
            if (uids_.contains(text(event, "/involvedObject/uid"))) said_ += text(event, "/message") + "\n";
        }
    }

    [[nodiscard]] bool has(const json::Value& event) const {
        if (uids_.contains(text(event, "/involvedObject/uid"))) return true;
        if (text(event, "/involvedObject/kind") != "Pod") return false;
        const std::string pod = text(event, "/involvedObject/name");
        return workers_.contains(pod) || pod.starts_with("virt-launcher-" + machine_ + "-") ||
               (pod.starts_with("hp-volume-") && said_.find(pod) != std::string::npos);
    }

private:
    std::set<std::string> uids_;
    std::set<std::string> workers_;
    std::string machine_;
    std::string said_;  ///< the messages about the machine's objects, which name its attachment pods
};

std::optional<Timestamp> time_of(const json::Value& event, bool* is_exact) {
    const auto exact = from_rfc3339(text(event, "/eventTime"));
    *is_exact = exact.has_value();
    return exact ? exact : from_rfc3339(text(event, "/firstTimestamp"));
}

std::string subject_of(const json::Value& event) {
    const std::string kind = text(event, "/involvedObject/kind");
    const std::string name = text(event, "/involvedObject/name");
    if (kind == "Pod") {
        json::Object metadata{
            {"name", name}
        };
        json::Object pod;
        pod["metadata"] = std::move(metadata);
        return role_of_pod(json::Value(std::move(pod)));
    }
    const api::Kind* known = api::find_kind_of(text(event, "/involvedObject/apiVersion"), kind);
    if (known == nullptr) return kind + "/" + name;
    const std::string_view brief = known->short_names.substr(0, known->short_names.find(' '));
    return std::string(brief.empty() ? known->singular : brief) + "/" + name;
}

void add_event(const json::Value& event, std::vector<Step>* out) {
    Step step;
    const auto at = time_of(event, &step.is_exact);
    if (!at) return;
    step.at = *at;
    step.what = subject_of(event) + " " + text(event, "/reason");
    if (const std::string message = text(event, "/message"); !message.empty()) step.what += ": " + message;
    out->push_back(step);
    const std::int64_t count = json::integer_at(event, "/count").value_or(1);
    const auto last = from_rfc3339(text(event, "/lastTimestamp"));
    if (count < 2 || !last || *last <= step.at) return;
    out->push_back({*last, false, step.what + " (" + std::to_string(count) + " times by then)"});
}

// The event that tells of a milestone with its exact time; the end when there is none.
std::vector<json::Value>::const_iterator teller_of(
    const Milestone& milestone, const std::string& uid, const std::vector<json::Value>& events
) {
    if (milestone.event_reason.empty()) return events.end();
    return std::ranges::find_if(events, [&](const json::Value& event) {
        return text(event, "/involvedObject/uid") == uid && text(event, "/reason") == milestone.event_reason &&
               text(event, "/message").find(milestone.event_word) != std::string::npos &&
               !text(event, "/eventTime").empty() && json::integer_at(event, "/count").value_or(1) < 2;
    });
}

// By time; what is of one moment stays as it was told.
std::vector<Step> in_order(std::vector<Step> steps) {
    std::multimap<Timestamp, Step> sorted;
    for (Step& step : steps) sorted.emplace(step.at, std::move(step));
    std::vector<Step> out;
    for (auto& [at, step] : sorted) out.push_back(std::move(step));
    return out;
}

std::string number(double seconds, const char* form) {
    char out[32];
    std::snprintf(out, sizeof out, form, seconds);
    return out;
}

double seconds_between(Timestamp from, Timestamp to) {
    return std::chrono::duration<double>(std::max(to - from, Duration::zero())).count();
}

}  // namespace

std::vector<Step> history(const View& view, const std::vector<json::Value>& events) {
    const std::vector<Seen> objects = objects_of(view);
    const Kin kin(view, objects, events);
    std::vector<Step> out;
    std::set<const json::Value*> told;
    for (const Seen& seen : objects) {
        for (const Milestone& milestone : milestones(seen.kind, seen.object)) {
            const auto event = teller_of(milestone, text(seen.object, "/metadata/uid"), events);
            bool is_exact = false;
            const auto at = event == events.end() ? milestone.at : time_of(*event, &is_exact);
            if (!at) continue;
            if (event != events.end()) told.insert(&*event);
            out.push_back({*at, is_exact, milestone.text});
        }
    }
    for (const json::Value& event : events) {
        if (!told.contains(&event) && kin.has(event)) add_event(event, &out);
    }
    // A namesake that was there before is another story.
    const auto& metadata = view.vm ? view.vm->metadata : view.vmi ? view.vmi->metadata : api::ObjectMeta{};
    if (const auto born = metadata.creation_timestamp)
        std::erase_if(out, [&](const Step& step) { return step.at < *born; });
    return in_order(std::move(out));
}

std::string print(const std::vector<Step>& steps) {
    std::string out;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const Step& step = steps[i];
        out += number(seconds_between(steps.front().at, step.at), "%10.3f s");
        out += i == 0 ? std::string(12, ' ') : number(seconds_between(steps[i - 1].at, step.at), "  +%7.3f s");
        out += (step.is_exact ? "   " : " ~ ") + step.what + "\n";
    }
    return out;
}

json::Value to_json(const std::vector<Step>& steps) {
    json::Array out;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        json::Object step{
            {"at", to_rfc3339_micro(steps[i].at)},
            {"exact", steps[i].is_exact},
            {"step", steps[i].what},
            {"elapsedSeconds", seconds_between(steps.front().at, steps[i].at)},
            {"tookSeconds", i == 0 ? 0.0 : seconds_between(steps[i - 1].at, steps[i].at)},
        };
        out.push_back(std::move(step));
    }
    return json::Value(std::move(out));
}

}  // namespace berth::explain
