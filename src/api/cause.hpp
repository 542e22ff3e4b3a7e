// One reason why an object is refused. Validation of a kind answers a list of them; the API server makes the Status.
// Source: docs/spec/kube-api.md 2.20, row 422
#pragma once

#include <string>

namespace berth::api {

struct Cause {
    std::string reason;   ///< FieldValueRequired, FieldValueInvalid, FieldValueNotSupported, FieldValueForbidden, …
    std::string message;  ///< without the field: `Required value: name or generateName is required`
    std::string field;    ///< "spec.template.spec.volumes[0].name"
    bool operator==(const Cause&) const = default;
};

inline Cause required(std::string field, std::string detail) {
    return {"FieldValueRequired", "Required value" + (detail.empty() ? "" : ": " + detail), std::move(field)};
}
/// `written` is the value as Go would print it: a quoted string, a number.
inline Cause invalid(std::string field, std::string written, std::string detail) {
    return {"FieldValueInvalid", "Invalid value: " + written + ": " + detail, std::move(field)};
}
inline Cause forbidden(std::string field, std::string detail) {
    return {"FieldValueForbidden", "Forbidden: " + detail, std::move(field)};
}
inline Cause duplicate(std::string field, std::string written) {
    return {"FieldValueDuplicate", "Duplicate value: " + written, std::move(field)};
}
/// `supported` is a list such as `"a", "b"`.
inline Cause not_supported(std::string field, std::string written, std::string supported) {
    return {
        "FieldValueNotSupported", "Unsupported value: " + written + ": supported values: " + supported, std::move(field)
    };
}

}  // namespace berth::api
