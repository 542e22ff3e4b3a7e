// The one implementation of api/codec.hpp, instantiated once per kind by BERTH_CODEC in the .cpp files of this folder.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/codec.hpp"
#include "api/describe.hpp"
#include "base/quantity.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "json/diff.hpp"

namespace berth::api {
namespace detail {

template <class T>
struct Is : std::false_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsList : std::false_type {};
template <class T>
struct IsList<std::vector<T>> : std::true_type {};
template <class T>
struct IsMap : std::false_type {};
template <class T>
struct IsMap<std::map<std::string, T>> : std::true_type {};
template <class T>
struct IsText : std::false_type {};
template <class Tag>
struct IsText<Text<Tag>> : std::true_type {};

inline std::unexpected<Error> wrong_type(const std::string& path, const char* wanted) {
    return fail(ErrorKind::invalid, path + ": must be " + wanted);
}

inline Result<std::string> read_text(const json::Value& value, const std::string& path, const char* wanted) {
    if (!value.is_string()) return wrong_type(path, wanted);
    return std::string(value.get_string());
}

template <class T>
Result<void> read(const json::Value& value, T& out, const std::string& path);

template <class T>
Result<void> read_fields(const json::Object& object, T& out, const std::string& path) {
    Result<void> done;
    std::apply(
        [&](const auto&... field) {
            const auto one = [&](const auto& f) {
                if (!done) return;
                const json::Value* value = object.if_contains(f.name);
                if (value == nullptr || value->is_null()) return;
                done = read(*value, out.*(f.member), path.empty() ? f.name : path + "." + f.name);
            };
            (one(field), ...);
        },
        Describe<T>::fields
    );
    return done;
}

template <class T>
Result<void> read(const json::Value& value, T& out, const std::string& path) {
    if constexpr (std::is_same_v<T, json::Value>) {
        out = value;
    } else if constexpr (std::is_same_v<T, std::string>) {
        TRY(out, read_text(value, path, "a string"));
    } else if constexpr (IsText<T>::value) {
        TRY(out.value, read_text(value, path, "a string"));
    } else if constexpr (std::is_same_v<T, bool>) {
        if (!value.is_bool()) return wrong_type(path, "true or false");
        out = value.get_bool();
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
        if (!value.is_int64() && !value.is_uint64()) return wrong_type(path, "a whole number");
        out = value.is_int64() ? value.get_int64() : static_cast<std::int64_t>(value.get_uint64());
    } else if constexpr (std::is_same_v<T, Quantity>) {
        if (value.is_int64() || value.is_uint64()) {
            out.written = json::print(value);
        } else if (value.is_double()) {
            return wrong_type(path, "a quantity such as \"500Mi\" or \"2\"");
        } else {
            TRY(out.written, read_text(value, path, "a quantity such as \"500Mi\" or \"2\""));
        }
        if (const auto amount = milli_value(out.written); !amount) return within(path, amount.error());
    } else if constexpr (std::is_same_v<T, Timestamp>) {
        TRY(const std::string text, read_text(value, path, "an RFC 3339 time"));
        const auto at = from_rfc3339(text);
        if (!at) return wrong_type(path, "an RFC 3339 time");
        out = *at;
    } else if constexpr (IsOptional<T>::value) {
        out.emplace();
        TRY_DO(read(value, *out, path));
    } else if constexpr (IsList<T>::value) {
        if (!value.is_array()) return wrong_type(path, "a list");
        out.clear();
        for (const json::Value& element : value.get_array()) {
            const std::string here = path + "[" + std::to_string(out.size()) + "]";
            TRY_DO(read(element, out.emplace_back(), here));
        }
    } else if constexpr (IsMap<T>::value) {
        if (!value.is_object()) return wrong_type(path, "an object");
        for (const auto& [key, inner] : value.get_object()) {
            TRY_DO(read(inner, out[std::string(key)], path + "." + std::string(key)));
        }
    } else {
        static_assert(Described<T>, "describe this type, or use json::Value");
        if (!value.is_object()) return wrong_type(path, "an object");
        TRY_DO(read_fields(value.get_object(), out, path));
    }
    return {};
}

template <class T>
bool is_empty(const T& value) {
    if constexpr (std::is_same_v<T, json::Value>) {
        return value.is_null();
    } else if constexpr (std::is_same_v<T, bool>) {
        return !value;
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
        return value == 0;
    } else if constexpr (std::is_same_v<T, Timestamp>) {
        return value == Timestamp{};
    } else if constexpr (IsOptional<T>::value) {
        return !value;
    } else if constexpr (Described<T>) {
        return value == T{};
    } else {
        return value.empty();
    }
}

template <class T>
json::Value write(const T& value) {
    if constexpr (std::is_same_v<T, json::Value>) {
        return value;
    } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, bool> || std::is_same_v<T, std::int64_t>) {
        return json::Value(value);
    } else if constexpr (IsText<T>::value) {
        return json::Value(value.value);
    } else if constexpr (std::is_same_v<T, Quantity>) {
        return json::Value(value.written);
    } else if constexpr (std::is_same_v<T, Timestamp>) {
        return json::Value(to_rfc3339(value));
    } else if constexpr (IsOptional<T>::value) {
        return value ? write(*value) : json::Value();
    } else if constexpr (IsList<T>::value) {
        json::Array array;
        for (const auto& element : value) array.push_back(write(element));
        return array;
    } else if constexpr (IsMap<T>::value) {
        json::Object object;
        for (const auto& [key, inner] : value) object[key] = write(inner);
        return object;
    } else {
        json::Object object;
        std::apply(
            [&](const auto&... field) {
                const auto one = [&](const auto& f) {
                    const auto& inner = value.*(f.member);
                    if (f.always || !is_empty(inner)) object[f.name] = write(inner);
                };
                (one(field), ...);
            },
            Describe<T>::fields
        );
        return object;
    }
}

inline json::Object typed(const char* type) {
    return json::Object{
        {"type", type}
    };
}

template <class T>
json::Object schema_of() {
    if constexpr (std::is_same_v<T, json::Value>) {
        return json::Object{
            {"x-kubernetes-preserve-unknown-fields", true}
        };
    } else if constexpr (std::is_same_v<T, std::string> || IsText<T>::value) {
        return typed("string");
    } else if constexpr (std::is_same_v<T, bool>) {
        return typed("boolean");
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
        json::Object out = typed("integer");
        out["format"] = "int64";
        return out;
    } else if constexpr (std::is_same_v<T, Quantity>) {
        json::Object out;
        out["anyOf"] = json::Array{typed("integer"), typed("string")};
        out["x-kubernetes-int-or-string"] = true;
        out["pattern"] =
            R"(^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$)";
        return out;
    } else if constexpr (std::is_same_v<T, Timestamp>) {
        json::Object out = typed("string");
        out["format"] = "date-time";
        return out;
    } else if constexpr (IsOptional<T>::value) {
        return schema_of<typename T::value_type>();
    } else if constexpr (IsList<T>::value) {
        json::Object out = typed("array");
        out["items"] = schema_of<typename T::value_type>();
        return out;
    } else if constexpr (IsMap<T>::value) {
        json::Object out = typed("object");
        out["additionalProperties"] = schema_of<typename T::mapped_type>();
        return out;
    } else {
        json::Object out = typed("object");
        json::Object properties;
        json::Array required;
        std::apply(
            [&](const auto&... field) {
                const auto one = [&](const auto& f) {
                    using Type = typename std::remove_cvref_t<decltype(f)>::Type;
                    json::Object property = schema_of<Type>();
                    if (*f.doc != '\0') property["description"] = f.doc;
                    json::Array values;
                    for (const auto word : std::views::split(std::string_view(f.one_of), ' ')) {
                        if (!word.empty()) values.push_back(json::Value(std::string_view(word)));
                    }
                    if (!values.empty()) {
                        json::Object& one = IsList<Type>::value ? property["items"].get_object() : property;
                        one["enum"] = std::move(values);
                    }
                    if (f.required) required.push_back(f.name);
                    properties[f.name] = std::move(property);
                };
                (one(field), ...);
            },
            Describe<T>::fields
        );
        out["properties"] = std::move(properties);
        if (!required.empty()) out["required"] = std::move(required);
        if (is_open<T>()) out["x-kubernetes-preserve-unknown-fields"] = true;
        return out;
    }
}

}  // namespace detail

template <class T>
Result<T> decode(const json::Value& document) {
    T out;
    TRY_DO(detail::read(document, out, ""));
    return out;
}

template <class T>
json::Value encode(const T& object) {
    return detail::write(object);
}

template <class T>
json::Value schema() {
    return detail::schema_of<T>();
}

template <class T>
std::optional<json::Value> patch_between(const T& observed, const T& desired) {
    if (observed == desired) return {};
    return json::merge_patch_between(encode(observed), encode(desired));
}

}  // namespace berth::api

#define BERTH_CODEC(T)                                \
    template Result<T> decode<T>(const json::Value&); \
    template json::Value encode<T>(const T&);         \
    template json::Value schema<T>();                 \
    template std::optional<json::Value> patch_between<T>(const T&, const T&)
