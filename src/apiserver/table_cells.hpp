// Cells of tables: small functions from an object to one value, for the .cpp files that list columns.
#pragma once

#include <algorithm>
#include <vector>

#include "apiserver/table_columns.hpp"

namespace berth::apiserver::cells {

using json::Value;

/// A pointer as a template argument: text<"/status/phase">.
template <std::size_t N>
struct Pointer {
    char chars[N];
    constexpr Pointer(const char (&text)[N]) { std::copy_n(text, N, chars); }  // NOLINT: meant to convert
    [[nodiscard]] constexpr std::string_view view() const { return {chars, N - 1}; }
};

using json::list_at;

inline std::size_t size_at(const Value& object, std::string_view pointer) {
    const Value* found = json::find(object, pointer);
    if (found == nullptr) return 0;
    if (found->is_array()) return found->get_array().size();
    return found->is_object() ? found->get_object().size() : 0;
}

inline std::string joined(const std::vector<std::string>& words, std::string_view otherwise = "<none>") {
    std::string out;
    for (const std::string& word : words) out += (out.empty() ? "" : ",") + word;
    return out.empty() ? std::string(otherwise) : out;
}

/// The texts at `inner` of all elements of a list.
inline std::vector<std::string> texts_in(const Value& object, std::string_view list, std::string_view inner) {
    std::vector<std::string> out;
    for (const Value& element : list_at(object, list)) out.emplace_back(json::text_at(element, inner));
    return out;
}

/// "a=b,c=d" in order of keys, or "<none>".
inline std::string pairs_at(const Value& object, std::string_view pointer) {
    std::vector<std::string> out;
    const Value* found = json::find(object, pointer);
    if (found != nullptr && found->is_object()) {
        for (const auto& [key, value] : found->get_object()) {
            out.push_back(
                std::string(key) + "=" + (value.is_string() ? std::string(value.get_string()) : json::print(value))
            );
        }
    }
    std::ranges::sort(out);
    return joined(out);
}

template <Pointer pointer>
Value text(const Value& object, Timestamp) {
    return Value(json::text_at(object, pointer.view()));
}

template <Pointer pointer>
Value text_or_none(const Value& object, Timestamp) {
    const std::string_view found = json::text_at(object, pointer.view());
    return Value(found.empty() ? std::string_view("<none>") : found);
}

template <Pointer pointer>
Value text_or_unset(const Value& object, Timestamp) {
    const std::string_view found = json::text_at(object, pointer.view());
    return Value(found.empty() ? std::string_view("<unset>") : found);
}

template <Pointer pointer>
Value number(const Value& object, Timestamp) {
    return Value(json::integer_at(object, pointer.view()).value_or(0));
}

template <Pointer pointer>
Value flag(const Value& object, Timestamp) {
    return Value(json::bool_at(object, pointer.view()));
}

template <Pointer pointer>
Value count(const Value& object, Timestamp) {
    return Value(static_cast<std::int64_t>(size_at(object, pointer.view())));
}

template <Pointer pointer>
Value age_of(const Value& object, Timestamp now) {
    return Value(age_at(object, pointer.view(), now));
}

template <Pointer pointer>
Value pairs(const Value& object, Timestamp) {
    return Value(pairs_at(object, pointer.view()));
}

/// "ready/wanted"
template <Pointer ready, Pointer wanted>
Value share(const Value& object, Timestamp) {
    return Value(
        std::to_string(json::integer_at(object, ready.view()).value_or(0)) + "/" +
        std::to_string(json::integer_at(object, wanted.view()).value_or(0))
    );
}

constexpr Cell age = age_of<"/metadata/creationTimestamp">;
constexpr Column kAge{"Age", "string", age};
constexpr Column kCreatedAt{"Created At", "date", text<"/metadata/creationTimestamp">};

}  // namespace berth::apiserver::cells
