#include "apiserver/schema.hpp"

#include <algorithm>
#include <set>

#include "apiserver/type_check.hpp"
#include "base/time.hpp"

namespace berth::apiserver {
namespace {

using api::Cause;
using json::Array;
using json::Object;
using json::Value;

const Value* keyword(const Value& schema, std::string_view name) {
    const Object* object = schema.if_object();
    return object == nullptr ? nullptr : object->if_contains(name);
}

bool flag(const Value& schema, std::string_view name) {
    const Value* value = keyword(schema, name);
    return value != nullptr && value->is_bool() && value->get_bool();
}

std::string_view text(const Value& schema, std::string_view name) {
    const Value* value = keyword(schema, name);
    return value != nullptr && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
}

const Value* property(const Value& schema, std::string_view name) {
    const Value* properties = keyword(schema, "properties");
    return properties == nullptr ? nullptr : keyword(*properties, name);
}

std::string joined(const std::string& path, std::string_view name) {
    return path.empty() ? std::string(name) : path + "." + std::string(name);
}

std::string indexed(const std::string& path, std::size_t index) { return path + "[" + std::to_string(index) + "]"; }

// --- Validation
// -----------------------------------------------------------------------------------------------------------

std::string_view type_of(const Value& value) {
    if (value.is_string()) return "string";
    if (value.is_bool()) return "boolean";
    if (value.is_object()) return "object";
    if (value.is_array()) return "array";
    if (value.is_null()) return "null";
    return value.is_double() ? "number" : "integer";
}

double number_of(const Value& value) {
    if (value.is_int64()) return static_cast<double>(value.get_int64());
    if (value.is_uint64()) return static_cast<double>(value.get_uint64());
    return value.is_double() ? value.get_double() : 0;
}

struct Validator {
    std::vector<Cause>& out;

    void in_body(const std::string& path, const Value& value, const std::string& why) {
        out.push_back(api::invalid(path, json::print(value), path + " in body " + why));
    }

    bool has_type(const Value& value, const Value& schema, const std::string& path) {
        const std::string_view got = type_of(value);
        const std::string_view wanted = text(schema, "type");
        if (flag(schema, "x-kubernetes-int-or-string")) {
            if (got == "integer" || got == "string") return true;
            out.push_back(
                {"FieldValueTypeInvalid",
                 "Invalid value: \"" + std::string(got) + "\": " + path +
                     " in body must be of type integer,string: \"" + std::string(got) + "\"",
                 path}
            );
            return false;
        }
        if (wanted.empty() || got == wanted || (wanted == "number" && got == "integer")) return true;
        if (got == "null" && flag(schema, "nullable")) return false;  // fine, and nothing more to look at
        out.push_back({
            "FieldValueTypeInvalid",
            "Invalid value: \"" + std::string(got) + "\": " + path + " in body must be of type " + std::string(wanted) +
                ": \"" + std::string(got) + "\"",
            path,
        });
        return false;
    }

    void check_enum(const Value& value, const Value& schema, const std::string& path) {
        const Value* values = keyword(schema, "enum");
        if (values == nullptr || !values->is_array()) return;
        const Array& legal = values->get_array();
        if (std::ranges::any_of(legal, [&](const Value& one) { return json::equal(one, value); })) return;
        std::string supported;
        for (const Value& one : legal) supported += (supported.empty() ? "" : ", ") + json::print(one);
        out.push_back(api::not_supported(path, json::print(value), supported));
    }

    void check_number(const Value& value, const Value& schema, const std::string& path) {
        const double number = number_of(value);
        const Value* least = keyword(schema, "minimum");
        const Value* most = keyword(schema, "maximum");
        if (least != nullptr && number < number_of(*least))
            in_body(path, value, "should be greater than or equal to " + json::print(*least));
        if (most != nullptr && number > number_of(*most))
            in_body(path, value, "should be less than or equal to " + json::print(*most));
    }

    void check_text(const Value& value, const Value& schema, const std::string& path) {
        const std::string_view written = value.get_string();
        const Value* least = keyword(schema, "minLength");
        const Value* most = keyword(schema, "maxLength");
        const auto size = static_cast<double>(written.size());
        if (least != nullptr && size < number_of(*least))
            in_body(path, value, "should be at least " + json::print(*least) + " chars long");
        if (most != nullptr && size > number_of(*most)) {
            out.push_back({"FieldValueTooLong", "Too long: may not be more than " + json::print(*most) + " bytes", path}
            );
        }
        if (text(schema, "format") == "date-time" && !from_rfc3339(written)) {
            in_body(path, value, "must be of type date-time: " + json::print(value));
        }
    }

    // "k=v" of the keys of an associative list, as the server names a duplicate.
    static Value keys_of(const Value& element, const Value& keys) {
        Object out_keys;
        for (const Value& key : keys.get_array()) {
            const Value* value = key.is_string() ? keyword(element, std::string_view(key.get_string())) : nullptr;
            if (value != nullptr) out_keys[std::string_view(key.get_string())] = *value;
        }
        return out_keys;
    }

    void check_list(const Value& value, const Value& schema, const std::string& path) {
        const Value* items = keyword(schema, "items");
        const Value* keys = keyword(schema, "x-kubernetes-list-map-keys");
        const std::string_view kind = text(schema, "x-kubernetes-list-type");
        const Array& list = value.get_array();
        std::set<std::string> seen;
        for (std::size_t i = 0; i < list.size(); ++i) {
            const std::string place = indexed(path, i);
            if (items != nullptr) check(list[i], *items, place);
            if (kind != "map" && kind != "set") continue;
            const bool is_map = kind == "map" && keys != nullptr && keys->is_array();
            const std::string identity = json::print(is_map ? keys_of(list[i], *keys) : list[i]);
            if (!seen.insert(identity).second) out.push_back(api::duplicate(place, identity));
        }
        const Value* most = keyword(schema, "maxItems");
        const Value* least = keyword(schema, "minItems");
        const auto size = static_cast<double>(list.size());
        if (most != nullptr && size > number_of(*most)) {
            out.push_back(
                {"FieldValueTooMany",
                 "Too many: " + std::to_string(list.size()) + ": must have at most " + json::print(*most) + " items",
                 path}
            );
        }
        if (least != nullptr && size < number_of(*least))
            in_body(path, value, "should have at least " + json::print(*least) + " items");
    }

    void check_object(const Value& value, const Value& schema, const std::string& path) {
        const Object& object = value.get_object();
        if (const Value* required = keyword(schema, "required"); required != nullptr && required->is_array()) {
            for (const Value& name : required->get_array()) {
                if (!object.contains(name.get_string()))
                    out.push_back(api::required(joined(path, name.get_string()), ""));
            }
        }
        const Value* rest = keyword(schema, "additionalProperties");
        for (const auto& [key, inner] : object) {
            if (const Value* known = property(schema, key)) {
                check(inner, *known, joined(path, key));
            } else if (rest != nullptr && rest->is_object()) {
                check(inner, *rest, joined(path, key));
            }
        }
    }

    void check(const Value& value, const Value& schema, const std::string& path) {
        if (!has_type(value, schema, path)) return;
        check_enum(value, schema, path);
        if (value.is_number()) check_number(value, schema, path);
        if (value.is_string()) check_text(value, schema, path);
        if (value.is_array()) check_list(value, schema, path);
        if (value.is_object()) check_object(value, schema, path);
    }
};

// --- Unknown fields
// -------------------------------------------------------------------------------------------------------

const Type& object_meta() { return *find_type_named("meta.ObjectMeta"); }

// Visits every value with its schema; `unknown` hears of fields that have none.
template <class Unknown>
void each_unknown(const Value& value, const Value& schema, const std::string& path, bool is_root, Unknown unknown) {
    if (const Array* array = value.if_array()) {
        const Value* items = keyword(schema, "items");
        for (std::size_t i = 0; items != nullptr && i < array->size(); ++i) {
            each_unknown((*array)[i], *items, indexed(path, i), false, unknown);
        }
        return;
    }
    const Object* object = value.if_object();
    if (object == nullptr) return;
    const bool keeps_all = flag(schema, "x-kubernetes-preserve-unknown-fields");
    const Value* rest = keyword(schema, "additionalProperties");
    const bool has_type = flag(schema, "x-kubernetes-embedded-resource");
    for (const auto& [key, inner] : *object) {
        const std::string_view name = key;
        if ((is_root || has_type) && (name == "apiVersion" || name == "kind")) continue;
        if ((is_root || has_type) && name == "metadata") {
            std::vector<std::string> found;
            find_unknown_fields(inner, object_meta(), found);
            for (const std::string& one : found) unknown(joined(path, "metadata." + one));
        } else if (const Value* known = property(schema, key)) {
            each_unknown(inner, *known, joined(path, key), false, unknown);
        } else if (rest != nullptr && rest->is_object()) {
            each_unknown(inner, *rest, joined(path, key), false, unknown);
        } else if (!keeps_all && rest == nullptr) {
            unknown(joined(path, key));
        }
    }
}

void prune_metadata(Value& metadata) {
    Object* object = metadata.if_object();
    if (object == nullptr) return;
    std::vector<std::string> gone;
    for (const auto& pair : *object) {
        if (object_meta().field(pair.key()) == nullptr) gone.emplace_back(pair.key());
    }
    for (const std::string& key : gone) object->stable_erase(key);
}

void prune_in(Value& value, const Value& schema, bool is_root) {
    if (Array* array = value.if_array()) {
        const Value* items = keyword(schema, "items");
        if (items == nullptr) return;
        for (Value& element : *array) prune_in(element, *items, false);
        return;
    }
    Object* object = value.if_object();
    if (object == nullptr) return;
    const bool keeps_all = flag(schema, "x-kubernetes-preserve-unknown-fields");
    const Value* rest = keyword(schema, "additionalProperties");
    const bool has_type = is_root || flag(schema, "x-kubernetes-embedded-resource");
    std::vector<std::string> gone;
    for (auto& [key, inner] : *object) {
        const std::string_view name = key;
        if (has_type && (name == "apiVersion" || name == "kind")) continue;
        if (has_type && name == "metadata") {
            prune_metadata(inner);
        } else if (const Value* known = property(schema, key)) {
            prune_in(inner, *known, false);
        } else if (rest != nullptr && rest->is_object()) {
            prune_in(inner, *rest, false);
        } else if (!keeps_all && rest == nullptr) {
            gone.emplace_back(key);
        }
    }
    for (const std::string& key : gone) object->stable_erase(key);
}

}  // namespace

std::vector<Cause> validate(const Value& document, const Value& schema) {
    std::vector<Cause> out;
    Validator{out}.check(document, schema, "");
    return out;
}

void find_unknown_fields(const Value& document, const Value& schema, std::vector<std::string>& out) {
    each_unknown(document, schema, "", true, [&](const std::string& path) { out.push_back(path); });
}

void prune(Value& document, const Value& schema) { prune_in(document, schema, true); }

void apply_defaults(Value& document, const Value& schema) {
    if (Array* array = document.if_array()) {
        const Value* items = keyword(schema, "items");
        if (items == nullptr) return;
        for (Value& element : *array) apply_defaults(element, *items);
        return;
    }
    Object* object = document.if_object();
    if (object == nullptr) return;
    const Value* properties = keyword(schema, "properties");
    if (properties != nullptr && properties->is_object()) {
        for (const auto& [key, inner] : properties->get_object()) {
            Value* had = object->if_contains(key);
            const bool is_null = had != nullptr && had->is_null() && !flag(inner, "nullable");
            const Value* filler = keyword(inner, "default");
            if ((had == nullptr || is_null) && filler != nullptr) {
                (*object)[key] = *filler;
            } else if (is_null && !text(inner, "type").empty()) {
                object->stable_erase(key);
            }
            if (Value* now = object->if_contains(key)) apply_defaults(*now, inner);
        }
    }
    const Value* rest = keyword(schema, "additionalProperties");
    if (rest == nullptr || !rest->is_object()) return;
    for (auto& pair : *object) {
        if (property(schema, pair.key()) == nullptr) apply_defaults(pair.value(), *rest);
    }
}

}  // namespace berth::apiserver
