#include "json/strategic.hpp"

#include <map>
#include <set>
#include <vector>

namespace berth::json {
namespace {

constexpr std::string_view kDirective = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kElementOrder = "$setElementOrder/";
constexpr std::string_view kDeleteScalars = "$deleteFromPrimitiveList/";

// As Go prints with %v: error texts carry values in this form.
std::string go_text(const Value& value) {
    if (const boost::json::string* text = value.if_string()) return std::string(*text);
    if (value.is_null()) return "<nil>";
    std::string out;
    if (const Object* object = value.if_object()) {
        std::map<std::string_view, const Value*> sorted;
        for (const auto& [key, inner] : *object) sorted[key] = &inner;
        for (const auto& [key, inner] : sorted)
            out += (out.empty() ? "" : " ") + std::string(key) + ":" + go_text(*inner);
        return "map[" + out + "]";
    }
    if (const Array* array = value.if_array()) {
        for (std::size_t i = 0; i < array->size(); ++i) out += (i == 0 ? "" : " ") + go_text((*array)[i]);
        return "[" + out + "]";
    }
    return print(value);
}

std::unexpected<Error> bad_directive(const Value& directive, const Object& object) {
    return fail(ErrorKind::invalid, "unknown patch type: " + go_text(directive) + " in map: " + go_text(Value(object)));
}

std::unexpected<Error> lacks_key(const Value& element, std::string_view key) {
    return fail(
        ErrorKind::invalid, "map: " + go_text(element) + " does not contain declared merge key: " + std::string(key)
    );
}

enum class Directive { none, merge, replace, remove };

Result<Directive> directive_of(const Object& object) {
    const Value* value = object.if_contains(kDirective);
    if (value == nullptr) return Directive::none;
    if (*value == "merge") return Directive::merge;
    if (*value == "replace") return Directive::replace;
    if (*value == "delete") return Directive::remove;
    return bad_directive(*value, object);
}

// What two elements must share to be the same one: the printed merge key, or the printed scalar. None: it has no key.
std::optional<std::string> identity(const Value& element, std::string_view key) {
    if (key.empty()) return print(element);
    const Object* object = element.if_object();
    const Value* value = object == nullptr ? nullptr : object->if_contains(key);
    if (value == nullptr) return {};
    return print(*value);
}

// Where each element stands first.
class Places {
public:
    Places(const Array& list, std::string_view key) : key_(key) {
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (auto id = identity(list[i], key)) at_.emplace(*std::move(id), i);
        }
    }
    [[nodiscard]] std::optional<std::size_t> of(const Value& element) const {
        const auto id = identity(element, key_);
        const auto it = id ? at_.find(*id) : at_.end();
        if (it == at_.end()) return {};
        return it->second;
    }

private:
    std::string_view key_;
    std::map<std::string, std::size_t> at_;
};

// Elements that the reference order names come in that order; the others keep their live order, each before the first
// named one that it preceded in the live list (kube-api.md 2.10.1, 4).
Array in_order(Array merged, const Array& live, const Array& reference, std::string_view key) {
    const Places wanted(reference, key);
    const Places before(live, key);
    std::vector<std::size_t> left;
    std::vector<std::pair<std::size_t, std::size_t>> right;  // place in the reference, index in merged
    for (std::size_t at = 0; at < merged.size(); ++at) {
        if (const auto place = wanted.of(merged[at])) {
            right.emplace_back(*place, at);
        } else {
            left.push_back(at);
        }
    }
    std::ranges::sort(right);
    Array out;
    out.reserve(merged.size());
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < left.size() || j < right.size()) {
        bool take_left = j == right.size();
        if (i < left.size() && j < right.size()) {
            const auto l = before.of(merged[left[i]]);
            const auto r = before.of(merged[right[j].second]);
            take_left = l && r && *l < *r;
        }
        out.push_back(std::move(merged[take_left ? left[i++] : right[j++].second]));
    }
    return out;
}

Result<void> check_order(const Array& patch, const Array& order, std::string_view key) {
    const Places places(order, key);
    std::optional<std::size_t> last;
    for (const Value& element : patch) {
        if (element.is_object() && element.get_object().contains(kDirective)) continue;
        if (!identity(element, key)) return lacks_key(element, key);
        const auto place = places.of(element);
        if (!place || (last && *place <= *last)) {
            return fail(
                ErrorKind::invalid,
                "The order in patch list:\n" + go_text(Value(patch)) + "\n doesn't match " +
                    std::string(kElementOrder.substr(0, kElementOrder.size() - 1)) + " list:\n" +
                    go_text(Value(order)) + "\n"
            );
        }
        last = place;
    }
    return {};
}

Result<void> merge_object(Object& live, const Object& patch, const MergeSchema* schema);

// The patch's value as it is stored where nothing was before: without nulls and directives.
Result<Value> fresh(const Value& patch, const MergeField& field);

Result<Array> merge_scalars(const Array& live, const Array& patch) {
    Array out;
    std::set<std::string> seen;
    for (const Array* list : {&live, &patch}) {
        for (const Value& element : *list) {
            if (seen.insert(print(element)).second) out.push_back(element);
        }
    }
    return out;
}

Result<Array> merge_objects(Array live, const Array& patch, const MergeField& field) {
    const std::string_view key = field.merge_key;
    std::set<std::string> removed;
    for (const Value& element : patch) {
        if (!element.is_object()) return lacks_key(element, key);
        TRY(const Directive directive, directive_of(element.get_object()));
        if (directive != Directive::remove) continue;
        auto id = identity(element, key);
        if (!id) return lacks_key(element, key);
        removed.insert(*std::move(id));
    }
    if (!removed.empty()) {
        Array kept;
        for (Value& element : live) {
            const auto id = identity(element, key);
            if (!id || !removed.contains(*id)) kept.push_back(std::move(element));
        }
        live = std::move(kept);
    }
    std::map<std::string, std::size_t> at;
    for (std::size_t i = 0; i < live.size(); ++i) {
        if (auto id = identity(live[i], key)) at.emplace(*std::move(id), i);
    }
    for (const Value& element : patch) {
        TRY(const Directive directive, directive_of(element.get_object()));
        if (directive == Directive::remove) continue;
        auto id = identity(element, key);
        if (!id) return lacks_key(element, key);
        const auto [it, is_fresh] = at.emplace(*std::move(id), live.size());
        if (is_fresh) live.emplace_back(Object());
        TRY_DO(merge_object(live[it->second].get_object(), element.get_object(), field.inner));
    }
    return live;
}

// A list without elements that carry a directive, those with $patch: replace included.
Result<Array> without_directives(const Array& patch, const MergeField& field) {
    Array out;
    for (const Value& element : patch) {
        const Object* object = element.if_object();
        if (object != nullptr && object->contains(kDirective)) {
            TRY_DO(directive_of(*object));
            continue;
        }
        if (object == nullptr || !field.merges) {
            out.push_back(element);
        } else {
            TRY(Value value, fresh(element, {.inner = field.inner}));
            out.push_back(std::move(value));
        }
    }
    return out;
}

bool replaces_list(const Array& patch) {
    return std::ranges::any_of(patch, [](const Value& element) {
        const Object* object = element.if_object();
        const Value* directive = object == nullptr ? nullptr : object->if_contains(kDirective);
        return directive != nullptr && *directive == "replace";
    });
}

Result<Array> merge_list(const Array& live, const Array& patch, const Array* order, const MergeField& field) {
    if (!field.merges || replaces_list(patch)) return without_directives(patch, field);
    if (order != nullptr) TRY_DO(check_order(patch, *order, field.merge_key));
    Array merged;
    if (field.merge_key.empty()) {
        TRY(merged, merge_scalars(live, patch));
    } else {
        TRY(merged, merge_objects(live, patch, field));
    }
    return in_order(std::move(merged), live, order == nullptr ? patch : *order, field.merge_key);
}

Result<Value> fresh(const Value& patch, const MergeField& field) {
    if (const Object* object = patch.if_object()) {
        TRY(const Directive directive, directive_of(*object));
        Object out;
        if (directive != Directive::remove) TRY_DO(merge_object(out, *object, field.inner));
        return Value(std::move(out));
    }
    if (const Array* array = patch.if_array()) {
        TRY(Array out, merge_list({}, *array, nullptr, field));
        return Value(std::move(out));
    }
    return patch;
}

// $retainKeys: drops what it does not name; the patch itself must stay within it.
Result<void> retain_keys(Object& live, const Object& patch, const Value& retained) {
    const auto bad = [] { return fail(ErrorKind::invalid, "invalid patch format of retainKeys"); };
    if (!retained.is_array()) return bad();
    std::set<std::string_view> names;
    for (const Value& name : retained.get_array()) {
        if (!name.is_string()) return bad();
        names.insert(name.get_string());
    }
    for (const auto& [key, value] : patch) {
        const std::string_view name = key;
        if (value.is_null() || name == kRetainKeys || name.starts_with(kDeleteScalars) ||
            name.starts_with(kElementOrder))
            continue;
        if (!names.contains(name)) return bad();
    }
    std::vector<std::string> gone;
    for (const auto& pair : live) {
        if (!names.contains(pair.key())) gone.emplace_back(pair.key());
    }
    for (const std::string& key : gone) live.erase(key);
    return {};
}

Result<void> delete_scalars(Object& live, std::string_view field, const Value& values) {
    if (!values.is_array()) return fail(ErrorKind::invalid, "invalid patch format of primitive list");
    Value* list = live.if_contains(field);
    if (list == nullptr || !list->is_array()) return {};
    std::set<std::string> gone;
    for (const Value& value : values.get_array()) gone.insert(print(value));
    Array kept;
    for (Value& value : list->get_array()) {
        if (!gone.contains(print(value))) kept.push_back(std::move(value));
    }
    *list = std::move(kept);
    return {};
}

Result<void> merge_field(
    Object& live, std::string_view name, const Value& patch, const Array* order, const MergeField& field
) {
    if (patch.is_null()) {
        live.erase(name);
        return {};
    }
    Value* had = live.if_contains(name);
    if (had != nullptr && had->is_object() && patch.is_object() && !field.replaces) {
        return merge_object(had->get_object(), patch.get_object(), field.inner);
    }
    if (patch.is_array()) {
        const Array nothing;
        const Array& old = had != nullptr && had->is_array() ? had->get_array() : nothing;
        TRY(Array merged, merge_list(old, patch.get_array(), order, field));
        live[name] = std::move(merged);
        return {};
    }
    TRY(live[name], fresh(patch, field));
    return {};
}

// An order for a list that the patch does not touch: the live list is sorted.
Result<void> order_only(Object& live, std::string_view name, const Array& order, const MergeField& field) {
    Value* had = live.if_contains(name);
    if (had == nullptr || !had->is_array()) return {};
    const Array old = had->get_array();
    *had = in_order(old, old, order, field.merge_key);
    return {};
}

Result<void> merge_object(Object& live, const Object& patch, const MergeSchema* schema) {
    const auto field_of = [&](std::string_view name) { return schema == nullptr ? MergeField{} : schema->field(name); };
    TRY(const Directive directive, directive_of(patch));
    if (directive == Directive::replace || directive == Directive::remove) live.clear();
    if (directive == Directive::remove) return {};
    if (const Value* retained = patch.if_contains(kRetainKeys)) TRY_DO(retain_keys(live, patch, *retained));
    for (const auto& [key, value] : patch) {
        const std::string_view name = key;
        if (name == kDirective || name == kRetainKeys || name.starts_with(kElementOrder)) continue;
        if (name.starts_with(kDeleteScalars)) {
            TRY_DO(delete_scalars(live, name.substr(kDeleteScalars.size()), value));
            continue;
        }
        const Value* order = patch.if_contains(std::string(kElementOrder) + std::string(name));
        TRY_DO(merge_field(live, name, value, order == nullptr ? nullptr : order->if_array(), field_of(name)));
    }
    for (const auto& [key, value] : patch) {
        std::string_view name = key;
        if (!name.starts_with(kElementOrder)) continue;
        name.remove_prefix(kElementOrder.size());
        if (!value.is_array()) return fail(ErrorKind::invalid, "invalid patch format of setElementOrder list");
        if (!patch.contains(name)) TRY_DO(order_only(live, name, value.get_array(), field_of(name)));
    }
    return {};
}

}  // namespace

Result<void> apply_strategic_patch(Value& target, const Value& patch, const MergeSchema& schema) {
    if (!patch.is_object()) return fail(ErrorKind::invalid, "a strategic merge patch is an object");
    if (!target.is_object()) target = Object();
    return merge_object(target.get_object(), patch.get_object(), &schema);
}

}  // namespace berth::json
