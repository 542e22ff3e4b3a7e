// What a request asks for besides the object: the form of the answer and the options in its query
// (docs/spec/kube-api.md 2.1, 2.5, 2.27).
#pragma once

#include "apiserver/status.hpp"

namespace berth::apiserver {

enum class Transform { none, table, partial, partial_list };

struct Presentation {
    Transform transform = Transform::none;
    bool as_yaml = false;
    std::string include_object = "Metadata";  ///< of a table: None, Metadata, Object
};

/// Errors  406: nothing in Accept can be served
Outcome<Presentation> negotiate(const kube::Request& request);

/// Absent, "0" and any case of "false" are false; all else, empty too, is true.
bool flag(const kube::Request& request, std::string_view name);
/// Errors  400: not a whole number
Outcome<std::optional<std::int64_t>> integer(const kube::Request& request, std::string_view name);

enum class FieldValidation { ignore, warn, strict };

struct WriteOptions {
    bool is_dry_run = false;
    FieldValidation validation = FieldValidation::warn;
};

/// Errors  422 on an unknown dryRun or fieldValidation
Outcome<WriteOptions> write_options(const kube::Request& request);

/// The type of a body without its parameters, in lower case; "" when not given.
std::string media_type(const kube::Request& request);

}  // namespace berth::apiserver
