#include "apiserver/json_path.hpp"

#include <algorithm>
#include <charconv>

#include "base/ascii.hpp"

namespace berth::apiserver {
namespace {

using json::Value;

const Value* member(const Value& value, std::string_view name) {
    const json::Object* object = value.if_object();
    return object == nullptr ? nullptr : object->if_contains(name);
}

bool is_quote(char c) { return c == '\'' || c == '"'; }

std::string_view unquoted(std::string_view text) {
    text = trimmed(text);
    if (text.size() >= 2 && is_quote(text.front()) && text.back() == text.front())
        return text.substr(1, text.size() - 2);
    return text;
}

// ".a.b" inside a filter: dots only.
const Value* descend(const Value& value, std::string_view path) {
    const Value* at = &value;
    while (at != nullptr && !path.empty()) {
        if (path.front() == '.') path.remove_prefix(1);
        const std::size_t end = std::min(path.find('.'), path.size());
        at = member(*at, path.substr(0, end));
        path.remove_prefix(end);
    }
    return at;
}

// "?(@.x=='v')"
bool passes(const Value& element, std::string_view filter) {
    filter.remove_prefix(1);
    filter = trimmed(filter);
    if (!filter.starts_with('(') || !filter.ends_with(')')) return false;
    filter = filter.substr(1, filter.size() - 2);
    const std::size_t equals = filter.find("==");
    if (equals == std::string_view::npos) return false;
    std::string_view path = trimmed(filter.substr(0, equals));
    if (!path.starts_with('@')) return false;
    path.remove_prefix(1);
    const std::string_view wanted = unquoted(filter.substr(equals + 2));
    const Value* found = descend(element, path);
    if (found == nullptr) return false;
    return found->is_string() ? std::string_view(found->get_string()) == wanted : json::print(*found) == wanted;
}

// Where the bracket that opens `path` closes; quotes and inner brackets are skipped.
std::size_t closing(std::string_view path) {
    int depth = 0;
    char quote = 0;
    for (std::size_t i = 0; i < path.size(); ++i) {
        const char c = path[i];
        if (quote != 0) {
            if (c == quote) quote = 0;
        } else if (is_quote(c)) {
            quote = c;
        } else if (c == '[') {
            ++depth;
        } else if (c == ']' && --depth == 0) {
            return i;
        }
    }
    return std::string_view::npos;
}

const Value* walk(const Value& value, std::string_view path);

const Value* walk_brackets(const Value& value, std::string_view inside, std::string_view rest) {
    const json::Array* array = value.if_array();
    const bool is_filter = inside.starts_with('?');
    if (inside == "*" || is_filter) {
        if (array == nullptr) return nullptr;
        for (const Value& element : *array) {
            if (is_filter && !passes(element, inside)) continue;
            if (const Value* found = walk(element, rest)) return found;
        }
        return nullptr;
    }
    if (!inside.empty() && is_quote(inside.front())) {
        const Value* inner = member(value, unquoted(inside));
        return inner == nullptr ? nullptr : walk(*inner, rest);
    }
    std::int64_t index = 0;
    const auto [end, error] = std::from_chars(inside.data(), inside.data() + inside.size(), index);
    if (array == nullptr || error != std::errc{} || end != inside.data() + inside.size()) return nullptr;
    const auto size = static_cast<std::int64_t>(array->size());
    if (index < 0) index += size;
    if (index < 0 || index >= size) return nullptr;
    return walk((*array)[static_cast<std::size_t>(index)], rest);
}

const Value* walk(const Value& value, std::string_view path) {
    if (path.empty()) return &value;
    if (path.front() == '[') {
        const std::size_t end = closing(path);
        if (end == std::string_view::npos) return nullptr;
        return walk_brackets(value, trimmed(path.substr(1, end - 1)), path.substr(end + 1));
    }
    if (path.front() != '.') return nullptr;
    path.remove_prefix(1);
    std::string name;
    std::size_t used = 0;
    while (used < path.size() && path[used] != '.' && path[used] != '[') {
        if (path[used] == '\\' && used + 1 < path.size()) ++used;  // ".metadata.labels.a\.b"
        name += path[used++];
    }
    const Value* inner = member(value, name);
    return inner == nullptr ? nullptr : walk(*inner, path.substr(used));
}

}  // namespace

const json::Value* first_at(const json::Value& root, std::string_view path) {
    if (path.starts_with('{') && path.ends_with('}')) path = path.substr(1, path.size() - 2);
    return walk(root, path);
}

}  // namespace berth::apiserver
