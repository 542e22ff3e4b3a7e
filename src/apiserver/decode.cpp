#include "apiserver/decode.hpp"

#include "apiserver/crds.hpp"
#include "apiserver/schema.hpp"
#include "apiserver/type_check.hpp"
#include "base/ranges.hpp"

namespace berth::apiserver {

std::vector<std::string> find_complaints(const api::Kind& kind, const json::Value& document, std::string_view text) {
    std::vector<std::string> out;
    std::vector<std::string> unknown;
    if (const Type* type = type_of(kind)) {
        find_unknown_fields(document, *type, unknown);
    } else {
        find_unknown_fields(document, served_schema(kind), unknown);
    }
    for (const std::string& path : unknown) out.push_back("unknown field " + quoted(path));
    if (text.empty()) return out;
    for (const std::string& path : duplicate_fields(text)) out.push_back("duplicate field " + quoted(path));
    return out;
}

Result<json::Value> typed(const api::Kind& kind, json::Value document) {
    if (const Type* type = type_of(kind)) {
        TRY_DO(check_types(document, *type));
        return conformed(document, *type);
    }
    // The schema says nothing about metadata: its type is that of every object.
    if (json::Value* metadata = json::find(document, "/metadata")) {
        const Type& type = *find_type_named("meta.ObjectMeta");
        TRY_DO(check_types(*metadata, type));
        *metadata = conformed(*metadata, type);
    }
    prune(document, served_schema(kind));
    apply_defaults(document, served_schema(kind));
    return document;
}

std::vector<api::Cause> check_schema(const api::Kind& kind, const json::Value& object) {
    if (kind.serving == api::Serving::built_in) return {};
    return validate(object, served_schema(kind));
}

std::string judge(Call& call, const std::vector<std::string>& complaints) {
    if (complaints.empty() || call.write.validation == FieldValidation::ignore) return {};
    if (call.write.validation == FieldValidation::warn) {
        for (const std::string& complaint : complaints) {
            if (!contains(call.warnings, complaint)) call.warnings.push_back(complaint);
        }
        return {};
    }
    std::string all = "strict decoding error: ";
    for (std::size_t i = 0; i < complaints.size(); ++i) all += (i == 0 ? "" : ", ") + complaints[i];
    return all;
}

}  // namespace berth::apiserver
