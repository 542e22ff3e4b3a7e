// Documents: one JSON model for the whole program (Boost.JSON), and the few ways in and out of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <boost/json/value.hpp>

#include "base/result.hpp"

namespace berth::json {

using Value = boost::json::value;
using Object = boost::json::object;
using Array = boost::json::array;

/// Errors  invalid: not JSON, or nested deeper than 512
Result<Value> parse(std::string_view text);

/// Compact text; keys in the order they stand in.
std::string print(const Value& value);
/// The text as a JSON string, for messages.
std::string quoted(std::string_view text);
/// Indented text for people.
std::string print_pretty(const Value& value);

/// The value at an RFC 6901 pointer ("/spec/volumes/0/name"), or nullptr.
const Value* find(const Value& root, std::string_view pointer);
Value* find(Value& root, std::string_view pointer);

/// The string there, or "" when it is absent or no string.
std::string_view text_at(const Value& root, std::string_view pointer);
/// The number there as an integer; none when absent or not a whole number.
std::optional<std::int64_t> integer_at(const Value& root, std::string_view pointer);
bool bool_at(const Value& root, std::string_view pointer, bool otherwise = false);
/// The list there; empty when it is absent or no list.
const Array& list_at(const Value& root, std::string_view pointer);

/// Sets a value, making the objects on the way. Never makes or grows arrays.
void set(Value& root, std::string_view pointer, Value value);
/// Removes a key if it is there.
void erase(Value& root, std::string_view pointer);

/// A key written for use inside a pointer: "a/b" becomes "a~1b".
std::string escape_key(std::string_view key);

/// Same content, whatever the order of keys.
bool equal(const Value& a, const Value& b);

}  // namespace berth::json
