// Requests as one line each, and the objects they are sent to. For tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include "hotplug/requests/requests.hpp"
#include "json/json_patch.hpp"

namespace berth::hotplug::testing {

inline json::Value parsed(std::string_view text) {
    Result<json::Value> value = json::parse(text);
    EXPECT_TRUE(value.has_value()) << text;
    return value ? *std::move(value) : json::Value();
}

inline json::Value with(json::Value object, std::string_view pointer, std::string_view text) {
    json::set(object, pointer, parsed(text));
    return object;
}

inline constexpr Gates kNone{.declarative = false};
inline constexpr Gates kDeclarative{};
inline constexpr Gates kLegacy{.legacy = true};

inline constexpr const char* kAdd =
    R"({"name":"v","disk":{"disk":{"bus":"scsi"},"serial":"S1"},"volumeSource":{"persistentVolumeClaim":{"claimName":"c"}}})";
inline constexpr const char* kRemove = R"({"name":"v"})";

inline constexpr const char* kSpec =
    R"({"domain":{"devices":{"disks":[{"name":"root","disk":{"bus":"virtio"}},{"name":"old","disk":{"bus":"scsi"}}]}},
    "volumes":[{"name":"root","containerDisk":{"image":"i"}},{"name":"old","dataVolume":{"name":"dv","hotpluggable":true}}]})";

inline json::Value instance() {
    json::Value out = parsed(R"({"metadata":{"name":"web","uid":"u1"},"status":{"phase":"Running"}})");
    json::set(out, "/spec", parsed(kSpec));
    return out;
}
inline json::Value machine() {
    json::Value out = parsed(R"({"metadata":{"name":"web","uid":"m1"},"status":{}})");
    json::set(out, "/spec/template/spec", parsed(kSpec));
    return out;
}
inline json::Value owned() {
    return with(
        instance(),
        "/metadata/ownerReferences",
        R"([{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachine","name":"web","uid":"m1","controller":true}])"
    );
}

inline Decision send(bool is_add, Target target, const json::Value& object, std::string_view body, Gates gates = {}) {
    RequestView view{.target = target, .name = "web", .gates = gates};
    (target == Target::machine ? view.vm : view.vmi) = &object;
    view.body = body.empty() ? Result<json::Value>(json::Value()) : json::parse(body);
    return is_add ? add_volume(view) : remove_volume(view);
}
inline Decision add(const json::Value& vmi, std::string_view body, Gates gates = {}) {
    return send(true, Target::instance, vmi, body, gates);
}
inline Decision remove(const json::Value& vmi, std::string_view body, Gates gates = {}) {
    return send(false, Target::instance, vmi, body, gates);
}
inline Decision add_to_vm(const json::Value& vm, std::string_view body, Gates gates = {}) {
    return send(true, Target::machine, vm, body, gates);
}
inline Decision remove_from_vm(const json::Value& vm, std::string_view body, Gates gates = {}) {
    return send(false, Target::machine, vm, body, gates);
}

inline json::Value applied(json::Value object, const Decision& decision) {
    EXPECT_EQ(decision.code, 202) << decision.message;
    if (!decision.patch) return object;
    const Result<void> done = json::apply_json_patch(object, *decision.patch);
    EXPECT_TRUE(done.has_value()) << done.error().message;
    return object;
}

inline std::string print_at(const json::Value& object, std::string_view pointer) {
    const json::Value* found = json::find(object, pointer);
    return found == nullptr ? "-" : json::print(*found);
}

inline std::string shown(const Decision& decision) {
    std::string out = std::to_string(decision.code) + " " + decision.reason + " " + decision.message;
    for (const api::Cause& cause : decision.causes) out += cause.field + ": " + cause.message + "; ";
    return out;
}
inline void expect_refused(const Decision& decision, int code, std::string_view part) {
    EXPECT_EQ(decision.code, code) << shown(decision);
    EXPECT_NE(shown(decision).find(part), std::string::npos) << shown(decision);
    EXPECT_FALSE(decision.patch.has_value());
}

}  // namespace berth::hotplug::testing
