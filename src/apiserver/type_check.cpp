#include "apiserver/type_check.hpp"

#include <limits>

#include "base/quantity.hpp"
#include "base/time.hpp"

namespace berth::apiserver {
namespace {

using json::Array;
using json::Object;
using json::Value;

std::string joined(const std::string& path, std::string_view name) {
    return path.empty() ? std::string(name) : path + "." + std::string(name);
}

std::string indexed(const std::string& path, std::size_t index) { return path + "[" + std::to_string(index) + "]"; }

// --- Unknown fields
// -------------------------------------------------------------------------------------------------------

void unknown_in(const Value& value, const Shape& shape, const std::string& path, std::vector<std::string>& out);

void unknown_in_object(const Value& value, const Type& type, const std::string& path, std::vector<std::string>& out) {
    const Object* object = value.if_object();
    if (object == nullptr) return;
    for (const auto& [key, inner] : *object) {
        const Field* field = type.field(key);
        if (field == nullptr) {
            out.push_back(joined(path, key));
        } else {
            unknown_in(inner, *field->shape, joined(path, key), out);
        }
    }
}

void unknown_in(const Value& value, const Shape& shape, const std::string& path, std::vector<std::string>& out) {
    if (shape.object != nullptr) unknown_in_object(value, *shape.object, path, out);
    const Array* array = value.if_array();
    if (array != nullptr && (shape.form == Form::list || shape.form == Form::schema_or_list)) {
        for (std::size_t i = 0; i < array->size(); ++i) {
            unknown_in(
                (*array)[i], shape.element != nullptr ? *shape.element : *shape.object->shape, indexed(path, i), out
            );
        }
    }
    if (shape.form == Form::map && value.is_object()) {
        for (const auto& [key, inner] : value.get_object()) unknown_in(inner, *shape.element, joined(path, key), out);
    }
}

// --- Types
// ----------------------------------------------------------------------------------------------------------------

struct Where {
    std::string_view struct_name;  // the innermost
    std::string path;
};

const char* word_for(const Value& value) {
    if (value.is_string()) return "string";
    if (value.is_bool()) return "bool";
    if (value.is_object()) return "object";
    return value.is_array() ? "array" : "number";
}

std::unexpected<Error> mismatch(const std::string& got, const Where& where, std::string_view wanted) {
    return fail(
        ErrorKind::invalid,
        "json: cannot unmarshal " + got + " into Go struct field " + std::string(where.struct_name) + "." + where.path +
            " of type " + std::string(wanted)
    );
}

std::optional<std::int64_t> whole_number(const Value& value) {
    if (value.is_int64()) return value.get_int64();
    return {};
}

bool is_base64(std::string_view text) {
    const auto is_digit = [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
    };
    std::size_t digits = 0;
    std::size_t pads = 0;
    for (const char c : text) {
        if (c == '\n' || c == '\r') continue;
        if (c == '=') {
            ++pads;
        } else if (!is_digit(c) || pads > 0) {
            return false;
        } else {
            ++digits;
        }
    }
    return (digits + pads) % 4 == 0 && pads <= 2 && (pads == 0 || digits % 4 == 4 - pads);
}

Result<void> check_value(const Value& value, const Shape& shape, const Where& where);

Result<void> check_object(const Value& value, const Type& type, const Where& where) {
    for (const auto& [key, inner] : value.get_object()) {
        const Field* field = type.field(key);
        if (field == nullptr) continue;
        TRY_DO(check_value(inner, *field->shape, {type.kind(), joined(where.path, key)}));
    }
    return {};
}

Result<void> check_text(const Value& value, const Shape& shape, const Where& where) {
    if (!value.is_string()) return mismatch(word_for(value), where, shape.go);
    const std::string_view text = value.get_string();
    const bool is_time = shape.form == Form::time || shape.form == Form::micro_time;
    if (is_time && !text.empty() && !from_rfc3339(text)) {
        return fail(
            ErrorKind::invalid,
            "parsing time " + json::print(value) + " as \"2006-01-02T15:04:05Z07:00\": cannot parse " +
                json::print(value) + "; write it as 2026-01-02T03:04:05Z"
        );
    }
    if (shape.form == Form::bytes && !is_base64(text)) {
        return fail(ErrorKind::invalid, "illegal base64 data in field " + where.path);
    }
    return {};
}

Result<void> check_number(const Value& value, const Shape& shape, const Where& where) {
    if (shape.form == Form::number) {
        if (value.is_number()) return {};
        return mismatch(word_for(value), where, shape.go);
    }
    const auto number = whole_number(value);
    const bool fits = number && (shape.form == Form::int64 || (*number >= std::numeric_limits<std::int32_t>::min() &&
                                                               *number <= std::numeric_limits<std::int32_t>::max()));
    if (fits) return {};
    return mismatch(value.is_number() ? "number " + json::print(value) : word_for(value), where, shape.go);
}

Result<void> check_quantity(const Value& value) {
    const bool is_number = value.is_int64() || value.is_uint64() || value.is_double();
    const std::string text = value.is_string() ? std::string(value.get_string()) : json::print(value);
    if ((is_number || value.is_string()) && milli_value(text)) return {};
    if (is_number && value.is_double()) return {};  // 1e+1 is how the printer writes 10.0
    return fail(
        ErrorKind::invalid,
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    );
}

Result<void> check_list(const Value& value, const Shape& element, const Shape& shape, const Where& where) {
    if (!value.is_array()) return mismatch(word_for(value), where, shape.go);
    for (const Value& inner : value.get_array()) TRY_DO(check_value(inner, element, where));
    return {};
}

Result<void> check_value(const Value& value, const Shape& shape, const Where& where) {
    if (value.is_null()) return {};
    const auto wrong = [&] { return mismatch(word_for(value), where, shape.go); };
    switch (shape.form) {
        case Form::any: return {};
        case Form::text:
        case Form::bytes:
        case Form::time:
        case Form::micro_time:
        case Form::duration: return check_text(value, shape, where);
        case Form::boolean:
            if (!value.is_bool()) return wrong();
            return {};
        case Form::int32:
        case Form::int64:
        case Form::number: return check_number(value, shape, where);
        case Form::quantity: return check_quantity(value);
        case Form::int_or_string:
            if (!value.is_string() && !whole_number(value)) return wrong();
            return {};
        case Form::list: return check_list(value, *shape.element, shape, where);
        case Form::map:
            if (!value.is_object()) return wrong();
            for (const auto& pair : value.get_object()) TRY_DO(check_value(pair.value(), *shape.element, where));
            return {};
        case Form::schema_or_bool:
            if (value.is_bool()) return {};
            break;
        case Form::schema_or_list:
            if (value.is_array()) return check_list(value, *shape.object->shape, shape, where);
            break;
        case Form::schema_or_texts:
            if (value.is_array()) return {};
            break;
        case Form::object: break;
    }
    if (!value.is_object()) return wrong();
    return check_object(value, *shape.object, where);
}

// --- Conforming
// -----------------------------------------------------------------------------------------------------------

Value conformed_value(const Value& value, const Shape& shape);

bool is_zero(const Value& value, const Field& field) {
    if (field.is_pointer) return false;
    switch (value.kind()) {
        case boost::json::kind::null: return true;
        case boost::json::kind::bool_: return !value.get_bool();
        case boost::json::kind::int64: return value.get_int64() == 0;
        case boost::json::kind::uint64:
        case boost::json::kind::double_: return false;
        case boost::json::kind::string: return value.get_string().empty();
        case boost::json::kind::array: return value.get_array().empty();
        case boost::json::kind::object: return value.get_object().empty() && field.shape->form != Form::any;
    }
    return false;
}

Value conformed_object(const Value& value, const Type& type) {
    const Object& object = value.get_object();
    Object out;
    out.reserve(object.size());
    const auto put = [&](const Field& field) {
        const Value* inner = object.if_contains(field.name);
        if (inner == nullptr || inner->is_null()) return;
        Value kept = conformed_value(*inner, *field.shape);
        const bool is_empty_time = field.shape->form == Form::time && kept.is_string() && kept.get_string().empty();
        if ((field.omits_empty && is_zero(kept, field)) || is_empty_time) return;
        out[field.name] = std::move(kept);
    };
    constexpr std::string_view kFirst[] = {"kind", "apiVersion", "metadata"};
    if (type.is_root) {
        for (const std::string_view name : kFirst) {
            if (const Field* field = type.field(name)) put(*field);
        }
    }
    for (const Field* field : type.json_fields) {
        if (!out.contains(field->name)) put(*field);
    }
    return out;
}

Value conformed_value(const Value& value, const Shape& shape) {
    if (value.is_object() && shape.object != nullptr) return conformed_object(value, *shape.object);
    if (value.is_array() && (shape.form == Form::list || shape.form == Form::schema_or_list)) {
        const Shape& element = shape.element != nullptr ? *shape.element : *shape.object->shape;
        Array out;
        out.reserve(value.get_array().size());
        for (const Value& inner : value.get_array()) out.push_back(conformed_value(inner, element));
        return out;
    }
    if (value.is_object() && shape.form == Form::map) {
        Object out;
        out.reserve(value.get_object().size());
        for (const auto& [key, inner] : value.get_object()) out[key] = conformed_value(inner, *shape.element);
        return out;
    }
    if (shape.form == Form::quantity && value.is_number()) return Value(json::print(value));
    if (shape.form == Form::time && value.is_string()) {
        const auto at = from_rfc3339(value.get_string());
        return at ? Value(to_rfc3339(*at)) : value;
    }
    if (shape.form == Form::micro_time && value.is_string()) {
        const auto at = from_rfc3339(value.get_string());
        return at ? Value(to_rfc3339_micro(*at)) : value;
    }
    return value;
}

}  // namespace

void find_unknown_fields(const Value& document, const Type& type, std::vector<std::string>& out) {
    unknown_in_object(document, type, "", out);
}

Result<void> check_types(const Value& document, const Type& type) {
    if (!document.is_object()) {
        return fail(
            ErrorKind::invalid,
            std::string("json: cannot unmarshal ") + word_for(document) + " into Go value of type " +
                std::string(type.shape->go)
        );
    }
    return check_object(document, type, {});
}

Value conformed(const Value& document, const Type& type) { return conformed_object(document, type); }

}  // namespace berth::apiserver
