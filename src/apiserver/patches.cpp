#include "apiserver/patches.hpp"

#include "apiserver/body.hpp"
#include "apiserver/decode.hpp"
#include "apiserver/new_events.hpp"
#include "apiserver/types.hpp"
#include "json/diff.hpp"
#include "json/json_patch.hpp"

namespace berth::apiserver {
namespace {

constexpr std::string_view kThreeTypes =
    "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";

Outcome<PatchType> patch_type_of(const Call& call) {
    const std::string type = media_type(call.request);
    const bool is_built_in = call.kind().serving == api::Serving::built_in;
    if (type == "application/json-patch+json") return PatchType::json;
    if (type == "application/merge-patch+json") return PatchType::merge;
    if (type == "application/strategic-merge-patch+json") {
        if (!is_built_in) return refuse(unsupported_media(std::string(kThreeTypes)));
        return PatchType::strategic;
    }
    return refuse(failure(415, "UnsupportedMediaType", "415: Unsupported Media Type"));
}

// A patch that names no version is based on whatever is there.
Outcome<json::Value> applied(const api::Kind& kind, const ReadPatch& patch, const json::Value& old) {
    json::Value object = old;
    switch (patch.type) {
        case PatchType::json: {
            const Result<void> done = json::apply_json_patch(object, patch.body);
            if (!done) return refuse(unfit_patch());
            break;
        }
        case PatchType::strategic: {
            const Result<void> done = json::apply_strategic_patch(object, patch.body, merge_schema(*type_of(kind)));
            if (!done) return refuse(failure(422, "Invalid", done.error().message));
            break;
        }
        case PatchType::merge: json::apply_merge_patch(object, patch.body); break;
    }
    return object;
}

}  // namespace

kube::Response unfit_patch() {
    return failure(422, "Invalid", "the server rejected our request due to an error in our request");
}

Outcome<ReadPatch> read_patch(const Call& call) {
    ReadPatch patch;
    TRY(patch.type, patch_type_of(call));
    if (call.request.document) {
        patch.body = *call.request.document;
    } else {
        if (call.request.body.size() > kBodyBytesMax) return refuse(too_large());
        auto parsed = json::parse(call.request.body);
        if (!parsed) return refuse(bad_request("error decoding patch: " + parsed.error().message));
        patch.body = std::move(*parsed);
        patch.text = call.request.body;
    }
    if (patch.type == PatchType::json) {
        const auto defect = json::find_defect(patch.body);
        if (defect == json::PatchDefect::too_many_operations) {
            return refuse(failure(
                413,
                "RequestEntityTooLarge",
                "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got " +
                    std::to_string(patch.body.get_array().size())
            ));
        }
        if (defect) return refuse(bad_request("error decoding patch: the body must be a list of operations"));
    } else if (!patch.body.is_object()) {
        return refuse(bad_request("error decoding patch: the body must be an object"));
    }
    return patch;
}

Outcome<json::Value> patched(Call& call, const ReadPatch& patch, const json::Value& old) {
    const bool is_new_event = call.target.is_new_event;
    const api::Kind& kind = is_new_event ? api::kEventsEvent : call.kind();
    const std::string name(json::text_at(old, "/metadata/name"));
    TRY(json::Value object, applied(kind, patch, is_new_event ? new_event_of(old) : old));
    if (!object.is_object()) return refuse(bad_request("error decoding patch: the result is not an object"));
    if (json::text_at(object, "/kind") != kind.kind || json::text_at(object, "/apiVersion") != kind.api_version()) {
        return refuse(bad_request("the kind and the version of an object cannot be patched"));
    }
    const auto refuse_patch = [&](const std::string& why) {
        return refuse(invalid(kind, name, {api::invalid("patch", json::print(patch.body), why)}));
    };
    const std::string strict = judge(call, find_complaints(kind, object, patch.text));
    if (!strict.empty()) return refuse_patch(strict);
    auto out = typed(kind, std::move(object));
    if (!out) return refuse_patch(out.error().message);
    return is_new_event ? stored_event_of(*out) : *std::move(out);
}

}  // namespace berth::apiserver
