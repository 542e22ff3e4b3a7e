#include "apiserver/status.hpp"

namespace berth::apiserver {
namespace {

constexpr std::string_view kModified =
    "the object has been modified; please apply your changes to the latest version and try again";

json::Object about(const api::Kind& kind, const std::string& name) {
    json::Object details;
    if (!name.empty()) details["name"] = name;
    if (!kind.group.empty()) details["group"] = kind.group;
    details["kind"] = kind.plural;
    return details;
}

std::string named(const api::Kind& kind, const std::string& name) { return kind.qualified() + " " + quoted(name); }

}  // namespace

kube::Response answer(std::shared_ptr<const json::Value> document, int code) {
    kube::Response response;
    response.code = code;
    response.headers["content-type"] = "application/json";
    response.document = std::move(document);
    return response;
}

kube::Response answer(json::Value document, int code) {
    return answer(std::make_shared<const json::Value>(std::move(document)), code);
}

kube::Response plain_text(int code, std::string text) {
    kube::Response response;
    response.code = code;
    response.headers["content-type"] = "text/plain; charset=utf-8";
    response.body = std::move(text);
    return response;
}

kube::Response failure(int code, std::string reason, std::string message, json::Object details) {
    json::Object status{
        {"kind",       "Status"      },
        {"apiVersion", "v1"          },
        {"metadata",   json::Object()},
        {"status",     "Failure"     },
        {"message",    message       }
    };
    if (!reason.empty()) status["reason"] = reason;
    const json::Value* retry = details.if_contains("retryAfterSeconds");
    const std::string retry_after = retry == nullptr ? std::string() : json::print(*retry);
    status["details"] = std::move(details);
    status["code"] = code;
    kube::Response response = answer(json::Value(std::move(status)), code);
    if (!retry_after.empty()) response.headers["retry-after"] = retry_after;
    return response;
}

kube::Response bad_request(std::string message) { return failure(400, "BadRequest", std::move(message)); }

kube::Response forbidden(const api::Kind& kind, const std::string& name, std::string why) {
    return failure(403, "Forbidden", named(kind, name) + " is forbidden: " + why, about(kind, name));
}

kube::Response not_found(const api::Kind& kind, const std::string& name) {
    return failure(404, "NotFound", named(kind, name) + " not found", about(kind, name));
}

kube::Response no_such_resource() {
    return failure(404, "NotFound", "the server could not find the requested resource");
}

kube::Response no_such_path() { return plain_text(404, "404 page not found\n"); }

kube::Response method_not_allowed() {
    return failure(405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
}

kube::Response not_acceptable() {
    return failure(
        406,
        "NotAcceptable",
        "only the following media types are accepted: application/json, application/yaml, "
        "application/vnd.kubernetes.protobuf"
    );
}

kube::Response already_exists(const api::Kind& kind, const std::string& name) {
    return failure(409, "AlreadyExists", named(kind, name) + " already exists", about(kind, name));
}

kube::Response conflict(const api::Kind& kind, const std::string& name, std::string why) {
    if (why.empty()) why = kModified;
    return failure(
        409, "Conflict", "Operation cannot be fulfilled on " + named(kind, name) + ": " + why, about(kind, name)
    );
}

kube::Response expired(std::string message) { return failure(410, "Expired", std::move(message)); }

kube::Response too_large() {
    return failure(413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728");
}

kube::Response unsupported_media(const std::string& accepted) {
    return failure(
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: " + accepted
    );
}

kube::Response invalid(const std::string& kind_name, const std::string& name, const std::vector<api::Cause>& causes) {
    std::vector<std::string> texts;
    json::Array listed;
    for (const api::Cause& cause : causes) {
        listed.push_back(json::Object{
            {"reason",  cause.reason },
            {"message", cause.message},
            {"field",   cause.field  }
        });
        std::string text = cause.field + ": " + cause.message;
        if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
    }
    std::string all;
    for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
    if (texts.size() > 1) all = "[" + all + "]";

    const std::size_t dot = kind_name.find('.');
    json::Object details;
    if (!name.empty()) details["name"] = name;
    if (dot != std::string::npos) details["group"] = kind_name.substr(dot + 1);
    details["kind"] = kind_name.substr(0, dot);
    details["causes"] = std::move(listed);
    return failure(422, "Invalid", kind_name + " " + quoted(name) + " is invalid: " + all, std::move(details));
}

kube::Response invalid(const api::Kind& kind, const std::string& name, const std::vector<api::Cause>& causes) {
    return invalid(std::string(kind.kind) + (kind.group.empty() ? "" : ".") + std::string(kind.group), name, causes);
}

kube::Response internal_error(std::string why) {
    json::Object details{
        {"causes", json::Array{json::Object{{"message", why}}}}
    };
    return failure(500, "InternalError", "Internal error occurred: " + why, std::move(details));
}

kube::Response not_implemented(std::string why) { return failure(501, "NotImplemented", std::move(why)); }

kube::Response unavailable(std::string message) {
    return failure(
        503,
        "ServiceUnavailable",
        std::move(message),
        json::Object{
            {"retryAfterSeconds", 1}
    }
    );
}

kube::Response too_large_version(std::int64_t asked, std::int64_t current) {
    json::Object cause{
        {"reason",  "ResourceVersionTooLarge"   },
        {"message", "Too large resource version"}
    };
    json::Object details{
        {"causes",            json::Array{std::move(cause)}},
        {"retryAfterSeconds", 1                            }
    };
    return failure(
        504,
        "Timeout",
        "Timeout: Too large resource version: " + std::to_string(asked) + ", current: " + std::to_string(current),
        std::move(details)
    );
}

kube::Response success(int code, json::Object details) {
    json::Object status{
        {"kind",       "Status"      },
        {"apiVersion", "v1"          },
        {"metadata",   json::Object()},
        {"status",     "Success"     }
    };
    if (!details.empty()) status["details"] = std::move(details);
    if (code != 200) status["code"] = code;
    return answer(json::Value(std::move(status)), code);
}

}  // namespace berth::apiserver
