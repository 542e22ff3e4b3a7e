#include "placement/requests.hpp"

namespace berth::placement {
namespace {

constexpr int kConflict = 409;
constexpr int kServerError = 500;
constexpr std::int64_t kDefaultGrace = 30;

Decision refuse(std::string message, int code = kConflict) { return {.code = code, .message = std::move(message)}; }

std::string strategy_of(const json::Value& vm) {
    if (const std::string_view strategy = json::text_at(vm, "/spec/runStrategy"); !strategy.empty())
        return std::string(strategy);
    return json::bool_at(vm, "/spec/running") ? "Always" : "Halted";
}

std::string_view phase_of(const json::Value* vmi) { return vmi == nullptr ? "" : json::text_at(*vmi, "/status/phase"); }
bool is_final(const json::Value* vmi) { return phase_of(vmi) == "Succeeded" || phase_of(vmi) == "Failed"; }
bool is_alive(const json::Value* vmi) { return vmi != nullptr && !is_final(vmi); }

bool is_dry_run(const json::Value& options) {
    const json::Value* dry = json::find(options, "/dryRun");
    return dry != nullptr && dry->is_array() && !dry->get_array().empty();
}

bool needs_recovery(const json::Value& vm) {
    const json::Value* conditions = json::find(vm, "/status/conditions");
    if (conditions == nullptr || !conditions->is_array()) return false;
    return std::ranges::any_of(conditions->get_array(), [](const json::Value& condition) {
        return json::text_at(condition, "/type") == "ManualRecoveryRequired" &&
               json::text_at(condition, "/status") == "True";
    });
}

json::Value operation(const char* op, const char* path, json::Value value) {
    return json::Object{
        {"op",    op              },
        {"path",  path            },
        {"value", std::move(value)}
    };
}

json::Value stop_request(const json::Value& vmi) {
    return json::Object{
        {"action", "Stop"},
        {"uid", json::text_at(vmi, "/metadata/uid")}
    };
}
json::Value start_request() {
    return json::Object{
        {"action", "Start"}
    };
}

Decision change_strategy(const json::Value& vm, bool runs) {
    json::Array patch;
    if (const json::Value* strategy = json::find(vm, "/spec/runStrategy"); strategy != nullptr) {
        patch.push_back(operation("test", "/spec/runStrategy", *strategy));
        patch.push_back(operation("replace", "/spec/runStrategy", json::Value(runs ? "Always" : "Halted")));
    } else {
        if (const json::Value* running = json::find(vm, "/spec/running"))
            patch.push_back(operation("test", "/spec/running", *running));
        patch.push_back(operation("add", "/spec/running", json::Value(runs)));
    }
    return {.vm_patch = std::move(patch)};
}

// Requests that wait already are not added to: only a stop may take their place.
Decision queue(const json::Value& vm, json::Array requests) {
    json::Array patch;
    const json::Value* queued = json::find(vm, "/status/stateChangeRequests");
    const bool has_queued = queued != nullptr && queued->is_array() && !queued->get_array().empty();
    const bool is_lone_stop = requests.size() == 1 && json::text_at(requests[0], "/action") == "Stop";
    if (has_queued && !is_lone_stop)
        return refuse("unable to complete request: stop/start already underway", kServerError);
    if (json::find(vm, "/status") == nullptr) patch.push_back(operation("add", "/status", json::Object()));
    if (queued != nullptr) patch.push_back(operation("test", "/status/stateChangeRequests", *queued));
    patch.push_back(operation("add", "/status/stateChangeRequests", std::move(requests)));
    // Who asks by hand does not wait for a pause that repeated failures have earned.
    if (json::find(vm, "/status/startFailure") != nullptr) {
        patch.push_back(json::Object{
            {"op",   "remove"              },
            {"path", "/status/startFailure"}
        });
    }
    return {.vm_patch = std::move(patch)};
}

// A grace period of the request replaces the machine's own.
std::optional<json::Value> grace_patch(const json::Value* vmi, std::optional<std::int64_t> seconds) {
    if (!is_alive(vmi) || !seconds) return {};
    json::Array patch;
    if (const json::Value* known = json::find(*vmi, "/spec/terminationGracePeriodSeconds")) {
        patch.push_back(operation("test", "/spec/terminationGracePeriodSeconds", *known));
    }
    patch.push_back(operation("add", "/spec/terminationGracePeriodSeconds", json::Value(*seconds)));
    return json::Value(std::move(patch));
}

Decision finished(Decision decision, const json::Value& options) {
    if (!is_dry_run(options)) return decision;
    decision.vm_patch.reset();
    decision.vmi_patch.reset();
    return decision;
}

Decision decide_start(const json::Value& vm, const json::Value* vmi, const json::Value& options) {
    const std::string strategy = strategy_of(vm);
    const std::string_view phase = phase_of(vmi);
    if (is_alive(vmi) && !phase.empty() && phase != "Unknown") return refuse("VM is already running");
    if (needs_recovery(vm)) return refuse("VM recovery required: see its condition ManualRecoveryRequired");
    if (strategy == "Halted") {
        if (!json::bool_at(options, "/paused")) return change_strategy(vm, true);
        json::Value request = start_request();
        json::set(
            request,
            "/data",
            json::Object{
                {"paused", "true"}
        }
        );
        return queue(vm, json::Array{std::move(request)});
    }
    if (strategy != "Manual" && strategy != "RerunOnFailure")
        return refuse(strategy + " does not support manual start requests");
    if (strategy == "RerunOnFailure" && phase == "Failed")
        return refuse(strategy + " does not support starting VM from failed state");
    json::Array requests;
    if (is_final(vmi)) requests.push_back(stop_request(*vmi));
    requests.push_back(start_request());
    return queue(vm, std::move(requests));
}

Decision decide_stop(const json::Value& vm, const json::Value* vmi, const json::Value& options) {
    const std::string strategy = strategy_of(vm);
    const std::optional<std::int64_t> grace = json::integer_at(options, "/gracePeriod");
    Decision decision;
    if (strategy == "Halted" || strategy == "Manual" || strategy == "RerunOnFailure") {
        if (!is_alive(vmi)) return refuse("VM is not running");
        const std::int64_t known =
            json::integer_at(*vmi, "/spec/terminationGracePeriodSeconds").value_or(kDefaultGrace);
        if (strategy == "Halted" && (!grace || *grace >= known)) {
            return refuse(strategy + " only supports manual stop requests with a shorter graceperiod");
        }
        decision = queue(vm, json::Array{stop_request(*vmi)});
    } else {
        decision = change_strategy(vm, false);
    }
    if (decision.code == 202) decision.vmi_patch = grace_patch(vmi, grace);
    return decision;
}

Decision decide_restart(const json::Value& vm, const json::Value* vmi, const json::Value& options) {
    const std::string strategy = strategy_of(vm);
    if (strategy != "Always" && strategy != "Manual" && strategy != "RerunOnFailure") {
        return refuse("RunStrategy " + strategy + " does not support manual restart requests");
    }
    if (vmi == nullptr) return refuse("VM is not running: Halted");
    Decision decision = queue(vm, json::Array{stop_request(*vmi), start_request()});
    if (decision.code == 202) decision.vmi_patch = grace_patch(vmi, json::integer_at(options, "/gracePeriodSeconds"));
    return decision;
}

}  // namespace

Decision start(const json::Value& vm, const json::Value* vmi, const json::Value& options) {
    return finished(decide_start(vm, vmi, options), options);
}

Decision stop(const json::Value& vm, const json::Value* vmi, const json::Value& options) {
    return finished(decide_stop(vm, vmi, options), options);
}

Decision restart(const json::Value& vm, const json::Value* vmi, const json::Value& options) {
    return finished(decide_restart(vm, vmi, options), options);
}

}  // namespace berth::placement
