// Schemas of OpenAPI documents, made from the type table and from the schemas of served kinds.
#pragma once

#include <set>
#include <string>

#include "apiserver/types.hpp"

namespace berth::apiserver {

/// Gathers "components/schemas": what is added, and all it refers to.
class SchemaCollection {
public:
    void add(const Type& type);
    /// A kind that is served from a schema, in one of its versions.
    void add(const api::Kind& kind, std::string_view version);
    [[nodiscard]] json::Object take() { return std::move(out_); }

private:
    json::Object value_schema(const Shape& shape);
    json::Object field_schema(const Field& field);
    json::Object reference(const std::string& name);
    void add_scalar(const std::string& name, json::Object schema);

    json::Object out_;
    std::set<std::string> seen_;
};

/// "io.k8s.api.core.v1.Pod"
std::string component_name(const Type& type);

}  // namespace berth::apiserver
