#include "apiserver/body.hpp"

#include "apiserver/decode.hpp"
#include "apiserver/new_events.hpp"
#include "apiserver/protobuf.hpp"

namespace berth::apiserver {
namespace {

constexpr std::string_view kProtobuf = "application/vnd.kubernetes.protobuf";

std::string accepted_types(const api::Kind& kind) {
    std::string out = "application/json, application/yaml";
    if (kind.serving == api::Serving::built_in) out += ", " + std::string(kProtobuf);
    return out;
}

Outcome<json::Value> parse_text(const std::string& body) {
    auto parsed = json::parse(body);
    if (!parsed) return refuse(bad_request("couldn't get version/kind; " + parsed.error().message));
    return std::move(*parsed);
}

Outcome<json::Value> parse_yaml_text(const std::string& body) {
    auto parsed = parse_yaml(body);
    if (!parsed) return refuse(bad_request("couldn't get version/kind; " + parsed.error().message));
    return std::move(*parsed);
}

Outcome<json::Value> parse_protobuf(const std::string& body) {
    auto decoded = decode_protobuf(body);
    if (decoded) return *std::move(decoded);
    return refuse(bad_request("couldn't get version/kind; " + decoded.error().message));
}

std::string cannot_handle(
    const std::string& got, const std::string& version, std::string_view kind, const std::string& why
) {
    return got + " in version " + quoted(version) + " cannot be handled as a " + std::string(kind) + ": " + why;
}

// Says what the object is where the client left it out, and refuses what it is not.
Outcome<void> check_type(const Call& call, const api::Kind& kind, json::Value& object) {
    const std::string served =
        kind.group.empty() ? call.target.version : std::string(kind.group) + "/" + call.target.version;
    json::Object& fields = object.get_object();
    const std::string got_version(json::text_at(object, "/apiVersion"));
    const std::string got_kind(json::text_at(object, "/kind"));
    if (!got_kind.empty() && got_kind != kind.kind) {
        const std::string version =
            got_version.empty() ? call.target.version : got_version.substr(got_version.find('/') + 1);
        return refuse(bad_request(cannot_handle(
            got_kind,
            version,
            kind.kind,
            "converting (" + got_kind + ") to (" + std::string(kind.kind) + "): unknown conversion"
        )));
    }
    if (!got_version.empty() && got_version != served) {
        return refuse(bad_request(
            "the API version in the data (" + got_version + ") does not match the expected API version (" + served + ")"
        ));
    }
    fields["kind"] = kind.kind;
    fields["apiVersion"] = served;
    return {};
}

Outcome<json::Value> read_new_event(const Call& call, const json::Value& event) {
    json::Value stored = stored_event_of(event);
    const auto causes = call.verb == Verb::create ? check_new_event(stored) : std::vector<api::Cause>();
    if (causes.empty()) return stored;
    return refuse(invalid(api::kEventsEvent, std::string(json::text_at(event, "/metadata/name")), causes));
}

}  // namespace

Outcome<json::Value> read_object(Call& call) {
    const api::Kind& kind = call.target.is_new_event ? api::kEventsEvent : call.kind();
    const std::string type = media_type(call.request);
    std::string_view text;
    json::Value object;
    if (call.request.document) {
        object = std::move(*call.request.document);
    } else if (call.request.body.size() > kBodyBytesMax) {
        return refuse(too_large());
    } else if (type.empty() || type == "application/json") {
        text = call.request.body;
        TRY(object, parse_text(call.request.body));
    } else if (type == "application/yaml") {
        TRY(object, parse_yaml_text(call.request.body));
    } else if (type == kProtobuf && kind.serving == api::Serving::built_in) {
        TRY(object, parse_protobuf(call.request.body));
    } else {
        return refuse(unsupported_media(accepted_types(kind)));
    }
    if (!object.is_object()) return refuse(bad_request("couldn't get version/kind; the body must be an object"));
    if (auto good = check_type(call, kind, object); !good) return refuse(good.error());
    if (const std::string strict = judge(call, find_complaints(kind, object, text)); !strict.empty()) {
        return refuse(bad_request(cannot_handle(std::string(kind.kind), call.target.version, kind.kind, strict)));
    }
    auto out = typed(kind, std::move(object));
    if (!out)
        return refuse(
            bad_request(cannot_handle(std::string(kind.kind), call.target.version, kind.kind, out.error().message))
        );
    return call.target.is_new_event ? read_new_event(call, *out) : Outcome<json::Value>(*std::move(out));
}

Outcome<json::Value> read_options(const kube::Request& request) {
    if (request.document) return *request.document;
    if (request.body.empty()) return json::Value();
    if (request.body.size() > kBodyBytesMax) return refuse(too_large());
    const std::string type = media_type(request);
    if (type.empty() || type == "application/json") return parse_text(request.body);
    if (type == "application/yaml") return parse_yaml_text(request.body);
    if (type == kProtobuf) return parse_protobuf(request.body);
    return refuse(unsupported_media("application/json, application/yaml, " + std::string(kProtobuf)));
}

Result<json::Value> read_any(const kube::Request& request) {
    if (request.document) return *request.document;
    const std::size_t start = request.body.find_first_not_of(" \t\r\n");
    if (start == std::string::npos) return json::Value();
    return request.body[start] == '{' ? json::parse(request.body) : parse_yaml(request.body);
}

}  // namespace berth::apiserver
