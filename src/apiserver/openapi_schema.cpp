#include "apiserver/openapi_schema.hpp"

#include <ranges>

#include "apiserver/crds.hpp"
#include "apiserver/resources.hpp"

namespace berth::apiserver {
namespace {

using json::Array;
using json::Object;
using json::Value;

constexpr std::string_view kMachinery = "io.k8s.apimachinery.pkg.";

std::string replaced(std::string_view text, char from, char to) {
    std::string out(text);
    std::ranges::replace(out, from, to);
    return out;
}

// "kubevirt.io" is "io.kubevirt" in the names of components.
std::string reversed(std::string_view group) {
    std::string out;
    for (const auto part : std::views::split(group, '.')) {
        out = std::string(std::string_view(part)) + (out.empty() ? "" : "." + out);
    }
    return out;
}

Object typed(std::string_view type, std::string_view format = "") {
    Object out{
        {"type", type}
    };
    if (!format.empty()) out["format"] = format;
    return out;
}

Object group_version_kind(std::string_view api_version, std::string_view kind) {
    const std::size_t slash = api_version.find('/');
    const bool is_core = slash == std::string_view::npos;
    return Object{
        {"group", is_core ? std::string_view() : api_version.substr(0, slash)},
        {"version", is_core ? api_version : api_version.substr(slash + 1)},
        {"kind", kind},
    };
}

Array one_of(Object a, Object b) {
    Array out;
    out.push_back(std::move(a));
    out.push_back(std::move(b));
    return out;
}

}  // namespace

std::string component_name(const Type& type) {
    const std::string_view name = type.name;
    const auto after = [&](std::string_view prefix) { return std::string(name.substr(prefix.size())); };
    if (name.starts_with("meta.")) return std::string(kMachinery) + "apis.meta.v1." + after("meta.");
    if (name.starts_with("runtime.")) return std::string(kMachinery) + std::string(name);
    if (name.starts_with("apiextensions/"))
        return "io.k8s.apiextensions-apiserver.pkg.apis." + replaced(name, '/', '.');
    if (name.starts_with("apiregistration/")) return "io.k8s.kube-aggregator.pkg.apis." + replaced(name, '/', '.');
    return "io.k8s.api." + replaced(name, '/', '.');
}

json::Object SchemaCollection::reference(const std::string& name) {
    return Object{
        {"$ref", "#/components/schemas/" + name}
    };
}

void SchemaCollection::add_scalar(const std::string& name, Object schema) {
    if (seen_.insert(name).second) out_[name] = std::move(schema);
}

json::Object SchemaCollection::value_schema(const Shape& shape) {
    const auto scalar = [&](std::string_view name, Object schema) {
        const std::string full = std::string(kMachinery) + std::string(name);
        add_scalar(full, std::move(schema));
        return reference(full);
    };
    switch (shape.form) {
        case Form::text:
        case Form::duration: return typed("string");
        case Form::boolean: return typed("boolean");
        case Form::int32: return typed("integer", "int32");
        case Form::int64: return typed("integer", "int64");
        case Form::number: return typed("number", "double");
        case Form::bytes: return typed("string", "byte");
        case Form::time: return scalar("apis.meta.v1.Time", typed("string", "date-time"));
        case Form::micro_time: return scalar("apis.meta.v1.MicroTime", typed("string", "date-time"));
        case Form::quantity: {
            Object quantity;
            quantity["oneOf"] = one_of(typed("string"), typed("number"));
            return scalar("api.resource.Quantity", std::move(quantity));
        }
        case Form::int_or_string: {
            Object either{
                {"format", "int-or-string"}
            };
            either["oneOf"] = one_of(typed("integer"), typed("string"));
            return scalar("util.intstr.IntOrString", std::move(either));
        }
        case Form::any:
        case Form::schema_or_bool:
        case Form::schema_or_list:
        case Form::schema_or_texts:
            return Object{
                {"x-kubernetes-preserve-unknown-fields", true}
            };
        case Form::object: add(*shape.object); return reference(component_name(*shape.object));
        case Form::list: {
            Object list = typed("array");
            list["items"] = value_schema(*shape.element);
            return list;
        }
        case Form::map: {
            Object map = typed("object");
            map["additionalProperties"] = value_schema(*shape.element);
            return map;
        }
    }
    return {};
}

json::Object SchemaCollection::field_schema(const Field& field) {
    Object schema = value_schema(*field.shape);
    Object extra;
    std::string strategy = field.merges ? "merge" : field.replaces ? "replace" : "";
    if (field.retains_keys) strategy += strategy.empty() ? "retainKeys" : ",retainKeys";
    if (!strategy.empty()) extra["x-kubernetes-patch-strategy"] = strategy;
    if (!field.merge_key.empty()) extra["x-kubernetes-patch-merge-key"] = field.merge_key;
    if (!field.list_type.empty()) extra["x-kubernetes-list-type"] = field.list_type;
    if (!field.list_map_keys.empty()) {
        Array keys;
        for (const auto key : std::views::split(field.list_map_keys, '+')) keys.push_back(Value(std::string_view(key)));
        extra["x-kubernetes-list-map-keys"] = std::move(keys);
    }
    if (!field.map_type.empty()) extra["x-kubernetes-map-type"] = field.map_type;
    if (!field.default_text.empty()) {
        if (auto filler = json::parse(field.default_text)) extra["default"] = *std::move(filler);
    }
    if (extra.empty()) return schema;
    if (schema.contains("$ref")) {  // nothing may stand beside a reference
        Array all;
        all.push_back(std::move(schema));
        schema = Object();
        schema["allOf"] = std::move(all);
    }
    for (auto& [key, value] : extra) schema[key] = std::move(value);
    return schema;
}

void SchemaCollection::add(const Type& type) {
    const std::string name = component_name(type);
    if (!seen_.insert(name).second) return;
    Object schema = typed("object");
    Object properties;
    Array required;
    for (const Field* field : type.json_fields) {
        properties[field->name] = field_schema(*field);
        if (field->is_required()) required.push_back(Value(field->name));
    }
    if (!properties.empty()) schema["properties"] = std::move(properties);
    if (!required.empty()) schema["required"] = std::move(required);
    if (type.is_atomic) schema["x-kubernetes-map-type"] = "atomic";
    if (type.is_root && type.api_version != "meta/v1") {
        Array kinds;
        kinds.push_back(group_version_kind(type.api_version, type.kind()));
        schema["x-kubernetes-group-version-kind"] = std::move(kinds);
    }
    out_[name] = std::move(schema);
}

void SchemaCollection::add(const api::Kind& kind, std::string_view version) {
    Value schema = served_schema(kind);
    Object& object = schema.get_object();
    const Type& meta = *find_type_named("meta.ObjectMeta");
    add(meta);
    json::set(schema, "/properties/metadata", reference(component_name(meta)));
    Array kinds;
    kinds.push_back(group_version_kind(group_version(kind.group, version), kind.kind));
    object["x-kubernetes-group-version-kind"] = std::move(kinds);
    out_[reversed(kind.group) + "." + std::string(version) + "." + std::string(kind.kind)] = std::move(schema);
}

}  // namespace berth::apiserver
