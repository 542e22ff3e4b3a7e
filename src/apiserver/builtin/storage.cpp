// Claims, volumes and storage classes.
// Source: https://kubernetes.io/docs/concepts/storage/persistent-volumes/, docs/spec/placement.md K-01, K-04
#include "apiserver/builtin/builtin.hpp"
#include "base/quantity.hpp"
#include "base/ranges.hpp"

namespace berth::apiserver {
namespace {

constexpr const char* kDefaultClass = "/metadata/annotations/storageclass.kubernetes.io~1is-default-class";
constexpr const char* kBetaClass = "/metadata/annotations/volume.beta.kubernetes.io~1storage-class";

// Several defaults: the newest, then the first by name.
std::string default_class(const Core& core) {
    std::string name;
    std::string newest;
    for (const auto& record : core.store.list(api::kStorageClass.qualified(), "")) {
        if (json::text_at(record->document, kDefaultClass) != "true") continue;
        const std::string made(json::text_at(record->document, "/metadata/creationTimestamp"));
        if (!name.empty() && made <= newest) continue;
        name = record->key.name;
        newest = made;
    }
    return name;
}

void add_finalizer(json::Value& object, std::string_view finalizer) {
    json::Object& metadata = object_in(object.get_object(), "metadata");
    json::Value& slot = metadata["finalizers"];
    if (!slot.is_array()) slot = json::Array();
    if (!contains(slot.get_array(), json::Value(finalizer))) slot.get_array().push_back(json::Value(finalizer));
}

bool same_at(const json::Value& a, const json::Value& b, std::string_view pointer) {
    const json::Value* left = json::find(a, pointer);
    const json::Value* right = json::find(b, pointer);
    if (left == nullptr || right == nullptr) return left == right;
    return json::equal(*left, *right);
}

std::string request_of(const json::Value& claim) {
    const json::Value* value = json::find(claim, "/spec/resources/requests/storage");
    if (value == nullptr) return {};
    return value->is_string() ? std::string(value->get_string()) : json::print(*value);
}

constexpr const char* kClaimIsFixed =
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";

void check_claim_change(const json::Value& claim, const json::Value& old, std::vector<api::Cause>& causes) {
    json::Value before = *json::find(old, "/spec");
    const json::Value* after_spec = json::find(claim, "/spec");
    json::Value after = after_spec == nullptr ? json::Value(json::Object()) : *after_spec;
    // A class may be given once to a claim that had none, and so may a volume.
    for (const char* field : {"/volumeName", "/storageClassName"}) {
        if (json::find(before, field) == nullptr) json::erase(after, field);
    }
    for (json::Value* spec : {&before, &after}) {
        json::erase(*spec, "/resources/requests/storage");
        json::erase(*spec, "/volumeAttributesClassName");
    }
    if (!json::equal(before, after)) causes.push_back(api::forbidden("spec", kClaimIsFixed));
    const auto was = milli_value(request_of(old));
    const auto is = milli_value(request_of(claim));
    if (!was || !is || *was == *is) return;
    if (json::text_at(old, "/status/phase") != "Bound") {
        causes.push_back(api::forbidden("spec", kClaimIsFixed));
    } else if (*is < *was) {
        causes.push_back(api::forbidden("spec.resources.requests.storage", "field can not be less than status.capacity")
        );
    }
}

void check_new_claim(const json::Value& claim, std::vector<api::Cause>& causes) {
    constexpr std::string_view kModes[] = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"};
    const json::Value* modes = json::find(claim, "/spec/accessModes");
    if (modes == nullptr || !modes->is_array() || modes->get_array().empty()) {
        causes.push_back(api::required("spec.accessModes", "at least 1 access mode is required"));
    } else {
        for (const json::Value& mode : modes->get_array()) {
            const std::string_view text = mode.is_string() ? std::string_view(mode.get_string()) : std::string_view();
            if (contains(kModes, text)) continue;
            causes.push_back(api::not_supported(
                "spec.accessModes",
                quoted(text),
                R"("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")"
            ));
        }
    }
    const std::string request = request_of(claim);
    const auto bytes = milli_value(request);
    if (request.empty()) {
        causes.push_back(api::required("spec.resources[storage]", ""));
    } else if (!bytes || *bytes <= 0) {
        causes.push_back(api::invalid("spec.resources[storage]", quoted(request), "must be greater than zero"));
    }
    const std::string_view mode = json::text_at(claim, "/spec/volumeMode");
    if (mode != "Block" && mode != "Filesystem") {
        causes.push_back(api::not_supported("spec.volumeMode", quoted(mode), R"("Block", "Filesystem")"));
    }
}

}  // namespace

void default_claim(const Core& core, json::Value& claim) {
    json::Object& fields = claim.get_object();
    json::Object& spec = object_in(fields, "spec");
    fill(spec, "volumeMode", "Filesystem");
    const bool has_class = spec.contains("storageClassName") || !json::text_at(claim, kBetaClass).empty();
    if (!has_class) {
        const std::string name = default_class(core);
        if (!name.empty()) spec["storageClassName"] = name;
    }
    // dataSource and dataSourceRef are the same thing written twice, unless the latter names another namespace.
    const json::Value source = spec.contains("dataSource") ? spec["dataSource"] : json::Value();
    const json::Value reference = spec.contains("dataSourceRef") ? spec["dataSourceRef"] : json::Value();
    if (source.is_object() && reference.is_null()) spec["dataSourceRef"] = source;
    if (reference.is_object() && source.is_null() && !reference.get_object().contains("namespace"))
        spec["dataSource"] = reference;
    fields["status"] = json::Object{
        {"phase", "Pending"}
    };
    add_finalizer(claim, "kubernetes.io/pvc-protection");
}

void default_volume(json::Value& volume) {
    json::Object& fields = volume.get_object();
    json::Object& spec = object_in(fields, "spec");
    fill(spec, "persistentVolumeReclaimPolicy", "Retain");
    fill(spec, "volumeMode", "Filesystem");
    fields["status"] = json::Object{
        {"phase", "Pending"}
    };
    add_finalizer(volume, "kubernetes.io/pv-protection");
}

void default_storage_class(json::Value& storage_class) {
    json::Object& fields = storage_class.get_object();
    fill(fields, "reclaimPolicy", "Delete");
    fill(fields, "volumeBindingMode", "Immediate");
}

std::vector<api::Cause> check_claim(const json::Value& claim, const json::Value* old) {
    std::vector<api::Cause> causes;
    if (old == nullptr) {
        check_new_claim(claim, causes);
    } else {
        check_claim_change(claim, *old, causes);
    }
    return causes;
}

std::vector<api::Cause> check_volume(const json::Value& volume, const json::Value* old) {
    std::vector<api::Cause> causes;
    if (old == nullptr) {
        if (json::find(volume, "/spec/capacity/storage") == nullptr)
            causes.push_back(api::required("spec.capacity", ""));
        const json::Value* modes = json::find(volume, "/spec/accessModes");
        if (modes == nullptr || !modes->is_array() || modes->get_array().empty())
            causes.push_back(api::required("spec.accessModes", ""));
        return causes;
    }
    for (const char* source : {"local", "hostPath", "csi", "nfs", "iscsi", "rbd", "fc"}) {
        if (!same_at(volume, *old, std::string("/spec/") + source)) {
            causes.push_back(
                api::forbidden("spec.persistentvolumesource", "spec.persistentvolumesource is immutable after creation")
            );
        }
    }
    for (const char* field : {"volumeMode"}) {
        if (same_at(volume, *old, std::string("/spec/") + field)) continue;
        causes.push_back(api::invalid(
            std::string("spec.") + field,
            quoted(json::text_at(volume, std::string("/spec/") + field)),
            "field is immutable"
        ));
    }
    if (json::find(*old, "/spec/nodeAffinity") != nullptr && !same_at(volume, *old, "/spec/nodeAffinity")) {
        causes.push_back(api::invalid(
            "spec.nodeAffinity", "the new affinity", "field is immutable, except for updating from beta label to GA"
        ));
    }
    return causes;
}

std::vector<api::Cause> check_storage_class(const json::Value& storage_class, const json::Value* old) {
    std::vector<api::Cause> causes;
    if (json::text_at(storage_class, "/provisioner").empty()) causes.push_back(api::required("provisioner", ""));
    if (old == nullptr) return causes;
    for (const char* field : {"parameters", "provisioner"}) {
        if (!same_at(storage_class, *old, std::string("/") + field)) {
            causes.push_back(api::forbidden(field, std::string("updates to ") + field + " are forbidden."));
        }
    }
    for (const char* field : {"reclaimPolicy", "volumeBindingMode"}) {
        if (same_at(storage_class, *old, std::string("/") + field)) continue;
        causes.push_back(
            api::invalid(field, quoted(json::text_at(storage_class, std::string("/") + field)), "field is immutable")
        );
    }
    return causes;
}

}  // namespace berth::apiserver
