#include "json/json_patch.hpp"

#include <charconv>
#include <vector>

namespace berth::json {
namespace {

constexpr std::size_t kMaxDepth = 512;

std::unexpected<Error> refuse(std::string_view what, std::string_view path, std::string_view why) {
    return fail(ErrorKind::invalid, std::string(what) + " \"" + std::string(path) + "\": " + std::string(why));
}

Result<std::vector<std::string>> segments_of(std::string_view pointer) {
    std::vector<std::string> out;
    if (pointer.empty()) return out;
    if (pointer.front() != '/') return refuse("path", pointer, "must start with a slash");
    for (std::size_t i = 0; i < pointer.size(); ++i) {
        if (pointer[i] == '/') {
            out.emplace_back();
        } else if (pointer[i] != '~') {
            out.back() += pointer[i];
        } else if (++i < pointer.size() && (pointer[i] == '0' || pointer[i] == '1')) {
            out.back() += pointer[i] == '0' ? '~' : '/';
        } else {
            return refuse("path", pointer, "write a tilde as ~0");
        }
    }
    return out;
}

std::optional<std::size_t> index_of(std::string_view segment) {
    if (segment.empty() || (segment.size() > 1 && segment.front() == '0')) return {};
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(segment.data(), segment.data() + segment.size(), index);
    if (error != std::errc{} || end != segment.data() + segment.size()) return {};
    return index;
}

Value* child(Value& parent, const std::string& segment) {
    if (Object* object = parent.if_object()) return object->if_contains(segment);
    if (Array* array = parent.if_array()) {
        const auto index = index_of(segment);
        if (index && *index < array->size()) return &(*array)[*index];
    }
    return nullptr;
}

/// A place in a document: the value that holds it, and its name there. No parent: the whole document.
struct Place {
    Value* parent = nullptr;
    std::string name;
    std::size_t depth = 0;
};

struct Patcher {
    Value& root;
    std::size_t touched = 0;

    Result<Place> locate(std::string_view path) const {
        TRY(const auto segments, segments_of(path));
        Place place{.depth = segments.size()};
        if (segments.empty()) return place;
        Value* at = &root;
        for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
            at = child(*at, segments[i]);
            if (at == nullptr) return refuse("path", path, "\"" + segments[i] + "\" is not there");
        }
        if (!at->is_object() && !at->is_array()) return refuse("path", path, "its parent holds nothing");
        place.parent = at;
        place.name = segments.back();
        return place;
    }

    Value* find(const Place& place) const { return place.parent == nullptr ? &root : child(*place.parent, place.name); }

    Result<Value*> demand(std::string_view path) const {
        TRY(const Place place, locate(path));
        Value* found = find(place);
        if (found == nullptr) return refuse("path", path, "is not there");
        return found;
    }

    // Levels of a value. Counts what it visits, so that many operations on a large value have an end.
    std::size_t levels(const Value& value) {
        std::size_t deepest = 0;
        touched += value.is_string() ? value.get_string().size() + 2 : 8;
        if (const Object* object = value.if_object()) {
            for (const auto& [key, inner] : *object) {
                touched += key.size();
                deepest = std::max(deepest, levels(inner));
            }
        } else if (const Array* array = value.if_array()) {
            for (const Value& inner : *array) deepest = std::max(deepest, levels(inner));
        } else {
            return 0;
        }
        return deepest + 1;
    }

    Result<void> check_size(std::string_view path, std::size_t depth, const Value& value) {
        if (depth + levels(value) > kMaxDepth) return refuse("path", path, "would be nested deeper than 512");
        if (touched > kMaxPatchedBytes) return refuse("path", path, "the patch copies more than 3 MiB");
        return {};
    }

    Result<void> add(std::string_view path, Value value) {
        TRY(const Place place, locate(path));
        TRY_DO(check_size(path, place.depth, value));
        if (place.parent == nullptr) {
            root = std::move(value);
        } else if (Object* object = place.parent->if_object()) {
            (*object)[place.name] = std::move(value);
        } else {
            Array& array = place.parent->get_array();
            const auto index = place.name == "-" ? array.size() : index_of(place.name);
            if (!index || *index > array.size()) return refuse("path", path, "is not a place in the list");
            array.insert(array.begin() + static_cast<std::ptrdiff_t>(*index), std::move(value));
        }
        return {};
    }

    Result<void> remove(std::string_view path) {
        TRY(const Place place, locate(path));
        if (place.parent == nullptr) return refuse("path", path, "the whole document cannot be removed");
        if (find(place) == nullptr) return refuse("path", path, "is not there");
        if (Object* object = place.parent->if_object()) {
            object->erase(place.name);
        } else {
            Array& array = place.parent->get_array();
            array.erase(array.begin() + static_cast<std::ptrdiff_t>(*index_of(place.name)));
        }
        return {};
    }

    Result<void> replace(std::string_view path, Value value) {
        TRY(const Place place, locate(path));
        Value* found = find(place);
        if (found == nullptr) return refuse("path", path, "is not there");
        TRY_DO(check_size(path, place.depth, value));
        *found = std::move(value);
        return {};
    }

    // A key that is absent passes a test for null, as in Kubernetes' library.
    Result<void> test(std::string_view path, const Value& wanted) const {
        TRY(const Place place, locate(path));
        const Value* found = find(place);
        const bool passes = found == nullptr ? wanted.is_null() && place.parent->is_object() : equal(*found, wanted);
        if (!passes) return refuse("testing path", path, "failed");
        return {};
    }

    Result<void> move(std::string_view from, std::string_view path) {
        if (path.starts_with(from) && path.size() > from.size() && path[from.size()] == '/') {
            return refuse("path", path, "cannot be moved into itself");
        }
        TRY(Value * source, demand(from));
        Value value = std::move(*source);
        if (from.empty()) return add(path, std::move(value));
        TRY_DO(remove(from));
        return add(path, std::move(value));
    }

    Result<void> copy(std::string_view from, std::string_view path) {
        TRY(const Value* source, demand(from));
        levels(*source);
        if (touched > kMaxPatchedBytes) return refuse("path", path, "the patch copies more than 3 MiB");
        return add(path, *source);
    }

    Result<void> apply(const Object& operation) {
        const auto text = [&](std::string_view name) -> std::optional<std::string_view> {
            const Value* value = operation.if_contains(name);
            if (value == nullptr || !value->is_string()) return {};
            return std::string_view(value->get_string());
        };
        const auto op = text("op");
        const auto path = text("path");
        if (!op) return fail(ErrorKind::invalid, "an operation has no \"op\"");
        if (!path) return fail(ErrorKind::invalid, "operation \"" + std::string(*op) + "\" has no \"path\"");
        if (*op == "remove") return remove(*path);
        if (*op == "move" || *op == "copy") {
            const auto from = text("from");
            if (!from) return fail(ErrorKind::invalid, "operation \"" + std::string(*op) + "\" has no \"from\"");
            return *op == "move" ? move(*from, *path) : copy(*from, *path);
        }
        const Value* value = operation.if_contains("value");
        const Value null;
        if (*op == "test") return test(*path, value == nullptr ? null : *value);
        if (*op != "add" && *op != "replace") return fail(ErrorKind::invalid, "unexpected kind: " + std::string(*op));
        if (value == nullptr)
            return fail(ErrorKind::invalid, "operation \"" + std::string(*op) + "\" has no \"value\"");
        return *op == "add" ? add(*path, *value) : replace(*path, *value);
    }
};

}  // namespace

std::optional<PatchDefect> find_defect(const Value& operations) {
    if (!operations.is_array()) return PatchDefect::undecodable;
    if (operations.get_array().size() > kMaxPatchOperations) return PatchDefect::too_many_operations;
    const bool all_objects = std::ranges::all_of(operations.get_array(), [](const Value& v) { return v.is_object(); });
    if (!all_objects) return PatchDefect::undecodable;
    return {};
}

Result<void> apply_json_patch(Value& target, const Value& operations) {
    if (const auto defect = find_defect(operations)) {
        if (*defect == PatchDefect::undecodable)
            return fail(ErrorKind::invalid, "a JSON patch is a list of operations");
        return fail(ErrorKind::invalid, "the allowed maximum operations in a JSON patch is 10000");
    }
    Patcher patcher{target};
    for (const Value& operation : operations.get_array()) TRY_DO(patcher.apply(operation.get_object()));
    return {};
}

}  // namespace berth::json
