#include "apiserver/metadata.hpp"

#include "base/ranges.hpp"

namespace berth::apiserver {
namespace {

constexpr std::string_view kMetaFields[] = {
    "name",
    "generateName",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
};

// Set by the server alone; a request cannot change them.
constexpr const char* kSystemFields[] = {
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
};

json::Object& metadata_of(json::Value& object) {
    json::Value& metadata = object.as_object()["metadata"];
    if (!metadata.is_object()) metadata = json::Object();
    return metadata.get_object();
}

bool is_empty(const json::Value& value) {
    return value.is_null() || (value.is_object() && value.get_object().empty()) ||
           (value.is_array() && value.get_array().empty()) || (value.is_string() && value.get_string().empty());
}

json::Object ordered_metadata(json::Object& metadata) {
    json::Object out;
    out.reserve(metadata.size());
    for (const std::string_view field : kMetaFields) {
        json::Value* value = metadata.if_contains(field);
        if (value != nullptr && !is_empty(*value)) out[field] = std::move(*value);
    }
    return out;
}

void take_field(json::Object& to, const json::Object& from, std::string_view field) {
    if (const json::Value* value = from.if_contains(field)) {
        to[field] = *value;
    } else {
        to.erase(field);
    }
}

// Everything but what a generation does not count.
bool same_content(const api::Kind& kind, const json::Value& a, const json::Value& b) {
    const json::Object& left = a.get_object();
    const json::Object& right = b.get_object();
    const auto counts = [&](std::string_view field) {
        if (field == "metadata" || field == "apiVersion" || field == "kind") return false;
        if (kind.serving == api::Serving::built_in) return field == "spec";
        return !(kind.has_status && field == "status");
    };
    const auto all_in = [&](const json::Object& one, const json::Object& other) {
        return std::ranges::all_of(one, [&](const auto& pair) {
            if (!counts(pair.key())) return true;
            const json::Value* value = other.if_contains(pair.key());
            return value != nullptr && json::equal(pair.value(), *value);
        });
    };
    return all_in(left, right) && all_in(right, left);
}

Outcome<void> check_identity(const api::Kind& kind, const json::Value& old, const json::Value& proposed) {
    const std::string name(json::text_at(old, "/metadata/name"));
    const std::string new_name(json::text_at(proposed, "/metadata/name"));
    if (!new_name.empty() && new_name != name) {
        return refuse(
            bad_request("the name of the object (" + new_name + ") does not match the name on the URL (" + name + ")")
        );
    }
    const std::string_view ns = json::text_at(proposed, "/metadata/namespace");
    if (!ns.empty() && ns != json::text_at(old, "/metadata/namespace")) {
        return refuse(
            bad_request("the namespace of the provided object does not match the namespace sent on the request")
        );
    }
    const std::string uid(json::text_at(proposed, "/metadata/uid"));
    const std::string old_uid(json::text_at(old, "/metadata/uid"));
    if (!uid.empty() && uid != old_uid) {
        return refuse(conflict(
            kind, name, "Precondition failed: UID in precondition: " + uid + ", UID in object meta: " + old_uid
        ));
    }
    const std::string_view version = json::text_at(proposed, "/metadata/resourceVersion");
    if (!version.empty() && version != json::text_at(old, "/metadata/resourceVersion"))
        return refuse(conflict(kind, name, ""));
    return {};
}

// A deletion can only be asked for with DELETE, and nothing may hold it back that did not before.
Outcome<void> check_deletion(const api::Kind& kind, const json::Value& old, const json::Value& proposed) {
    const std::string name(json::text_at(old, "/metadata/name"));
    const std::string_view deleted = json::text_at(old, "/metadata/deletionTimestamp");
    const std::string_view wanted = json::text_at(proposed, "/metadata/deletionTimestamp");
    if (deleted.empty() && !wanted.empty()) {
        return refuse(
            invalid(kind, name, {api::invalid("metadata.deletionTimestamp", quoted(wanted), "field is immutable")})
        );
    }
    const json::Value* finalizers = json::find(proposed, "/metadata/finalizers");
    if (deleted.empty() || finalizers == nullptr || !finalizers->is_array()) return {};
    const json::Value* known = json::find(old, "/metadata/finalizers");
    std::string added;
    for (const json::Value& finalizer : finalizers->get_array()) {
        const bool is_known = known != nullptr && known->is_array() && contains(known->get_array(), finalizer);
        if (!is_known) added += (added.empty() ? "" : ", ") + json::print(finalizer);
    }
    if (added.empty()) return {};
    return refuse(invalid(
        kind,
        name,
        {api::forbidden(
            "metadata.finalizers",
            "no new finalizers can be added if the object is being deleted, found new finalizers []string{" + added +
                "}"
        )}
    ));
}

json::Value limited(const api::Kind& kind, const json::Value& old, json::Value proposed, Scope scope) {
    switch (scope) {
        case Scope::whole: return proposed;
        case Scope::main:
            if (kind.has_status) take_field(proposed.get_object(), old.get_object(), "status");
            return proposed;
        case Scope::status: {
            json::Value out = old;
            take_field(out.get_object(), proposed.get_object(), "status");
            return out;
        }
        case Scope::finalize: {
            json::Value out = old;
            const json::Value* finalizers = json::find(proposed, "/spec/finalizers");
            json::set(out, "/spec/finalizers", finalizers == nullptr ? json::Value(json::Array()) : *finalizers);
            return out;
        }
    }
    return proposed;
}

}  // namespace

void order_fields(json::Value& object) {
    json::Object& fields = object.get_object();
    json::Object out;
    out.reserve(fields.size() + 1);
    for (const char* first : {"kind", "apiVersion"}) {
        if (json::Value* value = fields.if_contains(first)) out[first] = std::move(*value);
    }
    json::Value* metadata = fields.if_contains("metadata");
    const bool has_metadata = metadata != nullptr && metadata->is_object();
    out["metadata"] = has_metadata ? ordered_metadata(metadata->get_object()) : json::Object();
    for (auto& field : fields) {
        const std::string_view key = field.key();
        if (key != "kind" && key != "apiVersion" && key != "metadata" && key != "status")
            out[key] = std::move(field.value());
    }
    if (json::Value* status = fields.if_contains("status")) out["status"] = std::move(*status);
    object = std::move(out);
}

Outcome<void> place(const api::Kind& kind, const std::string& ns, json::Value& object) {
    json::Object& metadata = metadata_of(object);
    const std::string given(json::text_at(object, "/metadata/namespace"));
    if (!kind.is_namespaced() && given.empty()) metadata.erase("namespace");
    if (kind.is_namespaced() && given.empty()) {
        metadata["namespace"] = ns;
    } else if (given != ns) {
        return refuse(
            bad_request("the namespace of the provided object does not match the namespace sent on the request")
        );
    }
    if (!json::text_at(object, "/metadata/resourceVersion").empty()) {
        return refuse(bad_request("resourceVersion should not be set on objects to be created"));
    }
    return {};
}

void adopt(const api::Kind& kind, json::Value& object, const Uid& uid, Timestamp now) {
    json::Object& metadata = metadata_of(object);
    for (const char* field :
         {"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "generation", "managedFields"}) {
        metadata.erase(field);
    }
    metadata["uid"] = uid.value;
    metadata["resourceVersion"] = "0";  // keeps its place; the store writes the revision
    metadata["creationTimestamp"] = to_rfc3339(now);
    if (kind.has_generation) metadata["generation"] = 1;
    order_fields(object);
}

void drop_status(const api::Kind& kind, json::Value& object) {
    // Nodes report their status with their own registration; every other status is the controllers' to make.
    if (kind.has_status && !(kind == api::kNode)) object.as_object().erase("status");
}

Outcome<json::Value> merge(const api::Kind& kind, const json::Value& old, json::Value proposed, Scope scope) {
    if (auto good = check_identity(kind, old, proposed); !good) return refuse(good.error());
    if (scope == Scope::main || scope == Scope::whole) {
        if (auto good = check_deletion(kind, old, proposed); !good) return refuse(good.error());
    }
    json::Value object = limited(kind, old, std::move(proposed), scope);
    json::Object& metadata = metadata_of(object);
    const json::Object& known = old.at("metadata").get_object();
    for (const char* field : kSystemFields) take_field(metadata, known, field);
    take_field(metadata, known, "name");
    take_field(metadata, known, "resourceVersion");
    if (!metadata.contains("generateName")) take_field(metadata, known, "generateName");
    for (const char* field : {"kind", "apiVersion"}) take_field(object.get_object(), old.get_object(), field);
    order_fields(object);
    if (kind.has_generation && !same_content(kind, old, object)) bump_generation(object);
    return object;
}

std::string generated_name(std::string_view prefix, std::string_view suffix) {
    constexpr std::size_t kPrefixMax = 58;
    return std::string(prefix.substr(0, kPrefixMax)) + std::string(suffix);
}

bool is_released(const api::Kind& kind, const json::Value& object) {
    if (json::text_at(object, "/metadata/deletionTimestamp").empty()) return false;
    if (json::integer_at(object, "/metadata/deletionGracePeriodSeconds").value_or(0) > 0) return false;
    const auto holds = [&](std::string_view pointer) {
        const json::Value* list = json::find(object, pointer);
        return list != nullptr && list->is_array() && !list->get_array().empty();
    };
    return !holds("/metadata/finalizers") && !(kind == api::kNamespace && holds("/spec/finalizers"));
}

void bump_generation(json::Value& object) {
    const std::int64_t now = json::integer_at(object, "/metadata/generation").value_or(0);
    json::set(object, "/metadata/generation", json::Value(now + 1));
}

}  // namespace berth::apiserver
