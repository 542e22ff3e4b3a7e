#include "json/value.hpp"

#include <algorithm>
#include <cmath>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace berth::json {
namespace {

constexpr std::size_t kMaxDepth = 512;

// Calls `visit` with each decoded segment until it returns false.
template <class Visit>
bool walk(std::string_view pointer, Visit visit) {
    while (!pointer.empty()) {
        if (pointer.front() != '/') return false;
        pointer.remove_prefix(1);
        const std::size_t end = std::min(pointer.find('/'), pointer.size());
        std::string segment;
        for (std::size_t i = 0; i < end; ++i) {
            if (pointer[i] == '~' && i + 1 < end) {
                segment += pointer[++i] == '1' ? '/' : '~';
            } else {
                segment += pointer[i];
            }
        }
        pointer.remove_prefix(end);
        if (!visit(segment, pointer.empty())) return false;
    }
    return true;
}

std::optional<std::size_t> index_of(std::string_view segment) {
    if (segment.empty() || segment.size() > 9 || (segment.size() > 1 && segment.front() == '0')) return {};
    std::size_t index = 0;
    for (const char c : segment) {
        if (c < '0' || c > '9') return {};
        index = index * 10 + static_cast<std::size_t>(c - '0');
    }
    return index;
}

void print_indented(const Value& value, std::string& out, int depth) {
    const std::string indent(static_cast<std::size_t>(depth) * 2 + 2, ' ');
    const auto close = [&](char bracket) {
        out += '\n';
        out.append(indent, 0, indent.size() - 2);
        out += bracket;
    };
    if (const Object* object = value.if_object(); object != nullptr && !object->empty()) {
        out += '{';
        bool first = true;
        for (const auto& [key, inner] : *object) {
            out += first ? "\n" : ",\n";
            first = false;
            out += indent + print(Value(key)) + ": ";
            print_indented(inner, out, depth + 1);
        }
        close('}');
    } else if (const Array* array = value.if_array(); array != nullptr && !array->empty()) {
        out += '[';
        bool first = true;
        for (const Value& inner : *array) {
            out += first ? "\n" : ",\n";
            first = false;
            out += indent;
            print_indented(inner, out, depth + 1);
        }
        close(']');
    } else {
        out += print(value);
    }
}

// A number too large for a double is read as infinity, which no JSON text can say: it would not read back.
bool is_finite(const Value& value) {
    if (const double* number = value.if_double()) return std::isfinite(*number);
    if (const Array* array = value.if_array()) return std::ranges::all_of(*array, is_finite);
    if (const Object* object = value.if_object())
        return std::ranges::all_of(*object, [](const auto& member) { return is_finite(member.value()); });
    return true;
}

}  // namespace

Result<Value> parse(std::string_view text) {
    boost::system::error_code error;
    boost::json::parse_options options;
    options.max_depth = kMaxDepth;
    Value value = boost::json::parse(text, error, {}, options);
    if (error) return fail(ErrorKind::invalid, "json parse error: " + error.message());
    if (!is_finite(value)) return fail(ErrorKind::invalid, "json parse error: a number is out of range");
    return value;
}

std::string print(const Value& value) { return boost::json::serialize(value); }

std::string quoted(std::string_view text) { return print(Value(text)); }

std::string print_pretty(const Value& value) {
    std::string out;
    print_indented(value, out, 0);
    return out;
}

const Value* find(const Value& root, std::string_view pointer) {
    const Value* at = &root;
    const bool found = walk(pointer, [&](const std::string& segment, bool) {
        if (const Object* object = at->if_object()) {
            at = object->if_contains(segment);
        } else if (const Array* array = at->if_array()) {
            const auto index = index_of(segment);
            at = index && *index < array->size() ? &(*array)[*index] : nullptr;
        } else {
            at = nullptr;
        }
        return at != nullptr;
    });
    return found ? at : nullptr;
}

Value* find(Value& root, std::string_view pointer) {
    return const_cast<Value*>(find(static_cast<const Value&>(root), pointer));
}

std::string_view text_at(const Value& root, std::string_view pointer) {
    const Value* value = find(root, pointer);
    if (value == nullptr || !value->is_string()) return {};
    return value->get_string();
}

std::optional<std::int64_t> integer_at(const Value& root, std::string_view pointer) {
    const Value* value = find(root, pointer);
    if (value == nullptr) return {};
    if (value->is_int64()) return value->get_int64();
    if (value->is_uint64()) return static_cast<std::int64_t>(value->get_uint64());
    return {};
}

bool bool_at(const Value& root, std::string_view pointer, bool otherwise) {
    const Value* value = find(root, pointer);
    return value != nullptr && value->is_bool() ? value->get_bool() : otherwise;
}

const Array& list_at(const Value& root, std::string_view pointer) {
    static const Array none;
    const Value* const found = find(root, pointer);
    return found != nullptr && found->is_array() ? found->get_array() : none;
}

void set(Value& root, std::string_view pointer, Value value) {
    Value* at = &root;
    walk(pointer, [&](const std::string& segment, bool last) {
        if (const auto index = index_of(segment); at->is_array() && index && *index < at->get_array().size()) {
            at = &at->get_array()[*index];
        } else {
            if (!at->is_object()) *at = Object();
            at = &at->get_object()[segment];
        }
        if (last) *at = std::move(value);
        return true;
    });
}

void erase(Value& root, std::string_view pointer) {
    const std::size_t cut = pointer.rfind('/');
    if (cut == std::string_view::npos) return;
    Value* parent = find(root, pointer.substr(0, cut));
    if (parent == nullptr || !parent->is_object()) return;
    walk(pointer.substr(cut), [&](const std::string& segment, bool) {
        parent->get_object().erase(segment);
        return true;
    });
}

std::string escape_key(std::string_view key) {
    std::string out;
    for (const char c : key) {
        if (c == '~') {
            out += "~0";
        } else if (c == '/') {
            out += "~1";
        } else {
            out += c;
        }
    }
    return out;
}

bool equal(const Value& a, const Value& b) { return a == b; }

}  // namespace berth::json
