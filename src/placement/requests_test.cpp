#include "placement/requests.hpp"

#include <gtest/gtest.h>

namespace berth::placement {
namespace {

using Verb = Decision (*)(const json::Value&, const json::Value*, const json::Value&);

// `spec` as "Manual" or "running: true"; the machine's phase, "-" when there is none.
json::Value vm_of(const std::string& strategy) {
    json::Value vm = json::Object{
        {"metadata", json::Object{{"name", "web"}}}
    };
    if (strategy == "running") {
        json::set(vm, "/spec/running", json::Value(true));
    } else {
        json::set(vm, "/spec/runStrategy", json::Value(strategy));
    }
    return vm;
}

std::optional<json::Value> vmi_of(const std::string& phase) {
    if (phase == "-") return {};
    json::Value vmi = json::Object{
        {"metadata", json::Object{{"name", "web"}, {"uid", "u1"}}}
    };
    json::set(vmi, "/status/phase", json::Value(phase));
    return vmi;
}

// "Start", "Stop u1, Start", "runStrategy Halted", or the refusal.
std::string told(const Decision& decision) {
    if (decision.code >= 400) return std::to_string(decision.code) + " " + decision.message;
    std::string text;
    if (!decision.vm_patch) return "nothing";
    for (const json::Value& operation : decision.vm_patch->get_array()) {
        const std::string_view path = json::text_at(operation, "/path");
        if (json::text_at(operation, "/op") == "test" || json::text_at(operation, "/op") == "remove") continue;
        if (path == "/status") continue;
        if (path == "/status/stateChangeRequests") {
            for (const json::Value& request : operation.at("value").get_array()) {
                if (!text.empty()) text += ", ";
                text += json::text_at(request, "/action");
                if (const auto uid = json::text_at(request, "/uid"); !uid.empty()) text += " " + std::string(uid);
            }
        } else {
            text += std::string(path.substr(path.rfind('/') + 1)) + " " + json::print(operation.at("value"));
        }
    }
    return text;
}

TEST(Requests, TableOfStartStopRestart) {
    const char* const kRunning = "409 VM is already running";
    const char* const kNotRunning = "409 VM is not running";
    const struct {
        const char* scenario;
        Verb verb;
        const char* strategy;
        const char* phase;
        std::string told;
    } rows[] = {
        {"start",   start,   "Halted",         "-",         R"(runStrategy "Always")"                                                 },
        {"start",   start,   "Always",         "-",         "409 Always does not support manual start requests"                       },
        {"start",   start,   "Once",           "-",         "409 Once does not support manual start requests"                         },
        {"P-26",    start,   "Manual",         "-",         "Start"                                                                   },
        {"P-26",    start,   "Manual",         "Pending",   kRunning                                                                  },
        {"start",   start,   "Manual",         "Succeeded", "Stop u1, Start"                                                          },
        {"start",   start,   "Manual",         "Unknown",   "Start"                                                                   },
        {"start",   start,   "RerunOnFailure", "-",         "Start"                                                                   },
        {"start",   start,   "RerunOnFailure", "Succeeded", "Stop u1, Start"                                                          },
        {"start",   start,   "RerunOnFailure", "Failed",    "409 RerunOnFailure does not support starting VM from failed state"
        },
        {"start",   start,   "Always",         "Running",   kRunning                                                                  },
        {"stop",    stop,    "Halted",         "-",         kNotRunning                                                               },
        {"stop",    stop,    "Halted",         "Running",   "409 Halted only supports manual stop requests with a shorter graceperiod"},
        {"P-36",    stop,    "Always",         "Pending",   R"(runStrategy "Halted")"                                                 },
        {"stop",    stop,    "Always",         "-",         R"(runStrategy "Halted")"                                                 },
        {"P-67",    stop,    "running",        "Running",   "running false"                                                           },
        {"stop",    stop,    "Once",           "Running",   R"(runStrategy "Halted")"                                                 },
        {"stop",    stop,    "Manual",         "Running",   "Stop u1"                                                                 },
        {"stop",    stop,    "Manual",         "-",         kNotRunning                                                               },
        {"stop",    stop,    "Manual",         "Succeeded", kNotRunning                                                               },
        {"stop",    stop,    "RerunOnFailure", "Running",   "Stop u1"                                                                 },
        {"restart", restart, "Halted",         "-",         "409 RunStrategy Halted does not support manual restart requests"         },
        {"restart", restart, "Once",           "Running",   "409 RunStrategy Once does not support manual restart requests"           },
        {"P-73",    restart, "Always",         "Running",   "Stop u1, Start"                                                          },
        {"restart", restart, "Always",         "-",         "409 VM is not running: Halted"                                           },
        {"restart", restart, "Manual",         "Running",   "Stop u1, Start"                                                          },
        {"restart", restart, "RerunOnFailure", "Running",   "Stop u1, Start"                                                          },
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(std::string(row.scenario) + " " + row.strategy + " " + row.phase);
        const json::Value vm = vm_of(row.strategy);
        const std::optional<json::Value> vmi = vmi_of(row.phase);
        EXPECT_EQ(told(row.verb(vm, vmi ? &*vmi : nullptr, json::Value())), row.told);
    }
}

TEST(Requests, PausedStartsByRequest) {
    const Decision got = start(
        vm_of("Halted"),
        nullptr,
        json::Object{
            {"paused", true}
    }
    );
    EXPECT_EQ(told(got), "Start");
    const json::Value& last = got.vm_patch->get_array().back();
    EXPECT_EQ(json::text_at(last, "/value/0/data/paused"), "true");
}

TEST(Requests, QueuedRequestsGiveWayToAStopOnly) {
    json::Value vm = vm_of("Manual");
    json::set(vm, "/status/stateChangeRequests", json::Array{json::Object{{"action", "Start"}}});
    const json::Value running = *vmi_of("Running");
    EXPECT_EQ(told(stop(vm, &running, {})), "Stop u1");
    EXPECT_EQ(told(start(vm, nullptr, {})), "500 unable to complete request: stop/start already underway");
    EXPECT_EQ(told(restart(vm, &running, {})), "500 unable to complete request: stop/start already underway");
    EXPECT_EQ(
        json::print(*stop(vm, &running, {}).vm_patch),
        R"([{"op":"test","path":"/status/stateChangeRequests","value":[{"action":"Start"}]},)"
        R"({"op":"add","path":"/status/stateChangeRequests","value":[{"action":"Stop","uid":"u1"}]}])"
    );
}

TEST(Requests, ARequestEndsThePauseAfterFailures) {
    json::Value vm = vm_of("RerunOnFailure");
    json::set(
        vm,
        "/status/startFailure",
        json::Object{
            {"consecutiveFailCount", 3}
    }
    );
    const Decision got = start(vm, nullptr, {});
    EXPECT_EQ(json::print(got.vm_patch->get_array().back()), R"({"op":"remove","path":"/status/startFailure"})");
}

TEST(Requests, RecoveryComesFirst) {
    json::Value vm = vm_of("Manual");
    json::set(
        vm,
        "/status/conditions",
        json::Array{
            json::Object{{"type", "ManualRecoveryRequired"}, {"status", "True"}}
    }
    );
    EXPECT_EQ(start(vm, nullptr, {}).code, 409);
}

TEST(Requests, GracePeriodsReachTheMachine) {
    json::Value running = *vmi_of("Running");
    json::set(running, "/spec/terminationGracePeriodSeconds", json::Value(30));
    Decision got = stop(
        vm_of("Halted"),
        &running,
        json::Object{
            {"gracePeriod", 0}
    }
    );
    EXPECT_EQ(told(got), "Stop u1");
    ASSERT_TRUE(got.vmi_patch.has_value());
    EXPECT_EQ(
        json::print(*got.vmi_patch),
        R"([{"op":"test","path":"/spec/terminationGracePeriodSeconds","value":30},)"
        R"({"op":"add","path":"/spec/terminationGracePeriodSeconds","value":0}])"
    );
    EXPECT_EQ(
        stop(
            vm_of("Halted"),
            &running,
            json::Object{
                {"gracePeriod", 60}
    }
        )
            .code,
        409
    );
    EXPECT_TRUE(restart(
                    vm_of("Always"),
                    &running,
                    json::Object{
                        {"gracePeriodSeconds", 0}
    }
    )
                    .vmi_patch.has_value());
}

TEST(Requests, ADryRunChangesNothing) {
    const json::Value options = json::Object{
        {"dryRun", json::Array{"All"}}
    };
    EXPECT_EQ(told(start(vm_of("Halted"), nullptr, options)), "nothing");
    EXPECT_EQ(start(vm_of("Always"), nullptr, options).code, 409);
}

}  // namespace
}  // namespace berth::placement
