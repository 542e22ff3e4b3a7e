#include "apiserver/new_events.hpp"

#include "apiserver/status.hpp"
#include "base/ranges.hpp"

namespace berth::apiserver {
namespace {

struct Pair {
    std::string_view renewed;
    std::string_view stored;
};

constexpr Pair kPairs[] = {
    {"regarding",                "involvedObject"    },
    {"note",                     "message"           },
    {"reportingController",      "reportingComponent"},
    {"deprecatedSource",         "source"            },
    {"deprecatedFirstTimestamp", "firstTimestamp"    },
    {"deprecatedLastTimestamp",  "lastTimestamp"     },
    {"deprecatedCount",          "count"             },
};

// The same object with its keys renamed; what has no other name keeps its own.
json::Value renamed(
    const json::Value& event, std::string_view Pair::* from, std::string_view Pair::* to, std::string_view api_version
) {
    json::Object out;
    for (const auto& [key, value] : event.get_object()) {
        const auto pair = std::ranges::find(kPairs, std::string_view(key), from);
        out[pair == std::end(kPairs) ? std::string_view(key) : (*pair).*to] = value;
    }
    out["apiVersion"] = api_version;
    return json::Value(std::move(out));
}

}  // namespace

json::Value stored_event_of(const json::Value& event) { return renamed(event, &Pair::renewed, &Pair::stored, "v1"); }

json::Value new_event_of(const json::Value& stored) {
    return renamed(stored, &Pair::stored, &Pair::renewed, "events.k8s.io/v1");
}

std::vector<api::Cause> check_new_event(const json::Value& stored) {
    std::vector<api::Cause> causes;
    constexpr Pair kRequired[] = {
        {"eventTime",           "eventTime"         },
        {"reportingController", "reportingComponent"},
        {"reportingInstance",   "reportingInstance" },
        {"action",              "action"            },
        {"reason",              "reason"            },
    };
    for (const Pair& field : kRequired) {
        if (!json::text_at(stored, "/" + std::string(field.stored)).empty()) continue;
        causes.push_back(api::required(std::string(field.renewed), ""));
    }
    const std::string_view type = json::text_at(stored, "/type");
    if (type != "Normal" && type != "Warning") {
        causes.push_back(api::invalid("type", quoted(type), "has invalid value: must be Normal or Warning"));
    }
    return causes;
}

std::string stored_event_field(std::string_view field) {
    const std::size_t dot = std::min(field.find('.'), field.size());
    const auto pair = std::ranges::find(kPairs, field.substr(0, dot), &Pair::renewed);
    if (pair == std::end(kPairs)) return std::string(field);
    return std::string(pair->stored) + std::string(field.substr(dot));
}

}  // namespace berth::apiserver
