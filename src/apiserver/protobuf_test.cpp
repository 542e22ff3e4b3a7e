// Protobuf bodies: recorded ones, and one made from the table for every type.
#include "apiserver/protobuf.hpp"

#include <bit>

#include "apiserver/type_check.hpp"

namespace berth::apiserver {
namespace {

std::string varint(std::uint64_t value) {
    std::string out;
    while (value >= 0x80) {
        out += static_cast<char>((value & 0x7f) | 0x80);
        value >>= 7;
    }
    return out + static_cast<char>(value);
}
std::string number(int field, std::uint64_t value) {
    return varint(static_cast<std::uint64_t>(field) << 3) + varint(value);
}
std::string bytes(int field, std::string_view value) {
    return varint(static_cast<std::uint64_t>(field) << 3 | 2) + varint(value.size()) + std::string(value);
}
std::string envelope(std::string_view api_version, std::string_view kind, std::string_view raw) {
    return std::string("k8s\0", 4) + bytes(1, bytes(1, api_version) + bytes(2, kind)) + bytes(2, raw) + bytes(3, "") +
           bytes(4, "");
}

TEST(Protobuf, A52_SecretAsKubectlSendsIt) {
    const std::string metadata = bytes(1, "s1") + bytes(2, "") + bytes(3, "") + bytes(4, "") + bytes(5, "") +
                                 bytes(6, "") + number(7, 0) + bytes(8, "");
    const auto got = decode_protobuf(
        envelope("v1", "Secret", bytes(1, metadata) + bytes(2, bytes(1, "a") + bytes(2, "b")) + bytes(3, ""))
    );
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(json::print(*got), R"({"kind":"Secret","apiVersion":"v1","metadata":{"name":"s1"},"data":{"a":"Yg=="}})");
}

TEST(Protobuf, A60_DeleteOptionsOfAnyGroup) {
    const auto got =
        decode_protobuf(envelope("rbac.authorization.k8s.io/v1", "DeleteOptions", number(1, 0) + bytes(4, "Background"))
        );
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(
        json::print(*got),
        R"({"kind":"DeleteOptions","apiVersion":"rbac.authorization.k8s.io/v1","gracePeriodSeconds":0,)"
        R"("propagationPolicy":"Background"})"
    );
}

std::string from_base64(std::string_view text) {
    constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    unsigned bits = 0;
    int count = 0;
    for (const char c : text) {
        if (c == '=') break;
        bits = bits << 6 | static_cast<unsigned>(kDigits.find(c));
        count += 6;
        if (count < 8) continue;
        count -= 8;
        out += static_cast<char>(bits >> count & 0xff);
    }
    return out;
}

// Bodies that kubectl 1.32.3 sent.
TEST(Protobuf, A05_A06_RecordedBodies) {
    const struct {
        const char* body;
        const char* wanted;
    } rows[] = {
        {"azhzAAooChhhdXRoZW50aWNhdGlvbi5rOHMuaW8vdjESDFRva2VuUmVxdWVzdBIdChAKABIAGgAiACoAMgA4AEIAEgMg2AQaBAoAEgAaACIA",
         R"({"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1","spec":{"expirationSeconds":600},"status":{"token":""}})"
        },
        {"azhzAAokChxyYmFjLmF1dGhvcml6YXRpb24uazhzLmlvL3YxEgRSb2xlEikKEgoBchIAGgF0IgAqADIAOABCABITCgNnZXQKBGxpc3QSABoEc"
         "G9kcxoAIgA=",                                                                                         R"({"kind":"Role","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":"r","namespace":"t"},)"
         R"("rules":[{"verbs":["get","list"],"apiGroups":[""],"resources":["pods"]}]})"                                                                                },
        {"azhzAAoVCgdhcHBzL3YxEgpEZXBsb3ltZW50ErUBCh4KAmQxEgAaAXQiACoAMgA4AEIAWgkKA2FwcBICZDEShAEIAhILCgkKA2FwcBICZDEaa"
         "wobCgASABoAIgAq"
         "ADIAOABCAFoJCgNhcHASAmQxEkwSLgoFbmdpbngSBW5naW54KgAyCgoAEAAYUCIAKgBCAGoAcgCAAQCIAQCQAQCiAQAaADIAQgBKAFIAWABgA"
         "GgAggEAigEAmgEA"
         "wgEAIgIKACgAOAAaDAgAEAAYACAAKAA4ABoAIgA=",                                                            R"({"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"d1","namespace":"t","labels":{"app":"d1"}},)"
         R"("spec":{"replicas":2,"selector":{"matchLabels":{"app":"d1"}},"template":{"metadata":{"labels":{"app":"d1"}},)"
         R"("spec":{"containers":[{"name":"nginx","image":"nginx","ports":[{"containerPort":80}]}]}}}})"                                  },
        {"azhzAAogCglwb2xpY3kvdjESE1BvZERpc3J1cHRpb25CdWRnZXQSNwoSCgFwEgAaAXQiACoAMgA4AEIAEhUKCQgBEAAaAzUwJRIICgYKAWESA"
         "WIaCggAGAAgACgAMAAaACIA",                                                                             R"({"kind":"PodDisruptionBudget","apiVersion":"policy/v1","metadata":{"name":"p","namespace":"t"},)"
         R"("spec":{"minAvailable":"50%","selector":{"matchLabels":{"a":"b"}}},)"
         R"("status":{"disruptionsAllowed":0,"currentHealthy":0,"desiredHealthy":0,"expectedPods":0}})"                                                    },
        {"azhzAAoyChdhdXRob3JpemF0aW9uLms4cy5pby92MRIXU2VsZlN1YmplY3RBY2Nlc3NSZXZpZXcSOQoQCgASABoAIgAqADIAOABCABIbChkKA"
         "XQSBmNyZWF0ZRoAIgAqBHBvZHMyADoAGggIABIAGgAgABoAIgA=",                                                 R"({"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1","spec":{"resourceAttributes":{"namespace":"t",)"
         R"("verb":"create","resource":"pods"}},"status":{"allowed":false}})"                                                  },
        {"azhzAAoNCgJ2MRIHU2VydmljZRJjChwKAXMSABoBdCIAKgAyADgAQgBaCAoDYXBwEgFzEj8KGwoHODAtODA4MBIDVENQGFAiBwgAEJA/"
         "GgAoABIICgNhcHASAXMaACII"
         "Tm9kZVBvcnQ6AEIAUgBaAGAAaAAaAgoAGgAiAA==",                                                            R"({"kind":"Service","apiVersion":"v1","metadata":{"name":"s","namespace":"t","labels":{"app":"s"}},)"
         R"("spec":{"ports":[{"name":"80-8080","protocol":"TCP","port":80,"targetPort":8080}],"selector":{"app":"s"},"type":"NodePort"}})"
        },
    };
    for (const auto& row : rows) {
        const auto got = decode_protobuf(from_base64(row.body));
        ASSERT_TRUE(got) << got.error().message;
        EXPECT_EQ(json::print(*got), row.wanted);
    }
}

TEST(Protobuf, SpecialForms) {
    // Event: eventTime is a MicroTime, firstTimestamp a Time; PodDisruptionBudget: minAvailable is int or string.
    const std::string at = number(1, 1767323045) + number(2, 123456789);
    auto got = decode_protobuf(envelope("v1", "Event", bytes(6, at) + bytes(10, at) + number(8, 3)));
    ASSERT_TRUE(got);
    EXPECT_EQ(json::text_at(*got, "/eventTime"), "2026-01-02T03:04:05.123456Z");
    EXPECT_EQ(json::text_at(*got, "/firstTimestamp"), "2026-01-02T03:04:05Z");
    const std::string percent = number(1, 1) + number(2, 0) + bytes(3, "50%");
    got = decode_protobuf(envelope("policy/v1", "PodDisruptionBudget", bytes(2, bytes(1, percent))));
    EXPECT_EQ(json::text_at(*got, "/spec/minAvailable"), "50%");
    got =
        decode_protobuf(envelope("policy/v1", "PodDisruptionBudget", bytes(2, bytes(1, number(1, 0) + number(2, 2)))));
    EXPECT_EQ(json::integer_at(*got, "/spec/minAvailable"), 2);
    // A volume's source is a nested message whose fields stand beside the name.
    const std::string volume = bytes(1, "v") + bytes(2, bytes(10, bytes(1, "claim") + number(2, 0)));
    got = decode_protobuf(envelope("v1", "Pod", bytes(2, bytes(1, volume))));
    EXPECT_EQ(
        json::print(*json::find(*got, "/spec/volumes/0")),
        R"({"name":"v","persistentVolumeClaim":{"claimName":"claim"}})"
    );
}

TEST(Protobuf, BrokenBodiesAreRefused) {
    const std::string good = envelope("v1", "ConfigMap", bytes(2, bytes(1, "a") + bytes(2, "b")));
    for (std::size_t size = 0; size < good.size(); ++size) static_cast<void>(decode_protobuf(good.substr(0, size)));
    EXPECT_FALSE(decode_protobuf(good.substr(0, 10)));
    EXPECT_FALSE(decode_protobuf("{}"));
    EXPECT_FALSE(decode_protobuf(envelope("v1", "ConfigMap", bytes(2, bytes(1, "a\xff")))));
    EXPECT_EQ(decode_protobuf(envelope("kubevirt.io/v1", "VirtualMachine", "")).error().kind, ErrorKind::not_found);
    // An unknown field number is skipped.
    EXPECT_TRUE(decode_protobuf(envelope("v1", "ConfigMap", bytes(99, "x") + number(98, 1))));
    std::string deep;
    for (int i = 0; i < 400; ++i) deep = envelope("apps/v1", "ControllerRevision", bytes(2, bytes(1, deep)));
    EXPECT_FALSE(decode_protobuf(deep));
}

// --- Every type: a value for each field, written in protobuf by the table, must come back as that value
// ------------------

struct Sample {
    json::Value json;
    std::string wire;  // with tag
};

Sample sample_of(const Shape& shape, int field, int depth);

Sample object_sample(const Type& type, int depth) {
    json::Object object;
    std::string wire;
    for (const Field& f : type.fields) {
        if (f.number == 0 || f.name == "-") continue;
        const Sample inner = sample_of(*f.shape, f.number, depth);
        if (inner.json.is_null()) continue;
        wire += inner.wire;
        if (f.is_inlined) {
            for (const auto& [key, value] : inner.json.as_object()) object[key] = value;
        } else {
            object[f.name] = inner.json;
        }
    }
    return {std::move(object), std::move(wire)};
}

Sample sample_of(const Shape& shape, int field, int depth) {
    const std::string at = number(1, 1767323045) + number(2, 5'000);
    switch (shape.form) {
        case Form::text: return {"t", bytes(field, "t")};
        case Form::boolean: return {true, number(field, 1)};
        case Form::int32: return {-7, number(field, std::bit_cast<std::uint64_t>(std::int64_t{-7}))};
        case Form::int64: return {1LL << 40, number(field, 1ULL << 40)};
        case Form::number: {
            const auto bits = std::bit_cast<std::array<char, 8>>(2.5);
            return {2.5, varint(static_cast<std::uint64_t>(field) << 3 | 1) + std::string(bits.data(), 8)};
        }
        case Form::bytes: return {"AQI=", bytes(field, "\x01\x02")};
        case Form::time: return {"2026-01-02T03:04:05Z", bytes(field, at)};
        case Form::micro_time: return {"2026-01-02T03:04:05.000005Z", bytes(field, at)};
        case Form::duration: return {"1h2m3.5s", bytes(field, number(1, 3'723'500'000'000))};
        case Form::quantity: return {"1Gi", bytes(field, bytes(1, "1Gi"))};
        case Form::int_or_string: return {"50%", bytes(field, number(1, 1) + bytes(3, "50%"))};
        case Form::any: {
            const json::Object any{
                {"x", 1}
            };
            return {any, bytes(field, bytes(1, R"({"x":1})"))};
        }
        case Form::schema_or_bool: return {true, bytes(field, number(1, 1))};
        case Form::schema_or_list:
        case Form::object: {
            if (depth > 3) return {};
            Sample inner = object_sample(*shape.object, depth + 1);
            if (inner.json.as_object().empty()) return {};
            if (shape.form == Form::object) return {inner.json, bytes(field, inner.wire)};
            return {inner.json, bytes(field, bytes(1, inner.wire))};
        }
        case Form::schema_or_texts: {
            json::Array texts{"a", "b"};
            return {std::move(texts), bytes(field, bytes(2, "a") + bytes(2, "b"))};
        }
        case Form::list: {
            const Sample one = sample_of(*shape.element, shape.is_wrapped ? 1 : field, depth);
            if (one.json.is_null()) return {};
            json::Array list;
            list.push_back(one.json);
            list.push_back(one.json);
            return {std::move(list), shape.is_wrapped ? bytes(field, one.wire + one.wire) : one.wire + one.wire};
        }
        case Form::map: {
            const Sample one = sample_of(*shape.element, 2, depth);
            if (one.json.is_null()) return {};
            json::Object map;
            map["k"] = one.json;
            return {std::move(map), bytes(field, bytes(1, "k") + one.wire)};
        }
    }
    return {};
}

TEST(Protobuf, A52_EveryTypeOfTheTableRoundTrips) {
    int roots = 0;
    for (const Type* type : all_types()) {
        if (!type->is_root || type->api_version == "runtime") continue;
        ++roots;
        SCOPED_TRACE(std::string(type->name));
        Sample sample = object_sample(*type, 0);
        const auto got = decode_protobuf(envelope(type->api_version, type->kind(), sample.wire));
        ASSERT_TRUE(got) << got.error().message;
        json::Object& wanted = sample.json.as_object();
        wanted["apiVersion"] = type->api_version;
        wanted["kind"] = type->kind();
        EXPECT_EQ(*got, sample.json);
        EXPECT_TRUE(check_types(*got, *type)) << check_types(*got, *type).error().message;
        std::vector<std::string> unknown;
        find_unknown_fields(*got, *type, unknown);
        EXPECT_TRUE(unknown.empty());
    }
    EXPECT_GT(roots, 120);
}

}  // namespace
}  // namespace berth::apiserver
