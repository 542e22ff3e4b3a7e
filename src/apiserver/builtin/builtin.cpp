#include "apiserver/builtin/builtin.hpp"

#include "base/ranges.hpp"

namespace berth::apiserver {
namespace {

void default_namespace(json::Value& object) {
    json::Object& fields = object.get_object();
    object_in(fields, "spec")["finalizers"] = json::Array{"kubernetes"};
    fields["status"] = json::Object{
        {"phase", "Active"}
    };
    json::Object& metadata = object_in(fields, "metadata");
    object_in(metadata, "labels")["kubernetes.io/metadata.name"] = metadata["name"];
}

std::string base64(std::string_view bytes) {
    constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const auto byte = [&](std::size_t at) {
            return at < bytes.size() ? static_cast<unsigned>(static_cast<unsigned char>(bytes[at])) : 0u;
        };
        const unsigned group = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
        out += kAlphabet[group >> 18];
        out += kAlphabet[group >> 12 & 63];
        out += i + 1 < bytes.size() ? kAlphabet[group >> 6 & 63] : '=';
        out += i + 2 < bytes.size() ? kAlphabet[group & 63] : '=';
    }
    return out;
}

void default_secret(json::Value& object) {
    json::Object& fields = object.get_object();
    fill(fields, "type", "Opaque");
    json::Value* plain = fields.if_contains("stringData");
    if (plain == nullptr) return;
    const json::Value texts = std::move(*plain);
    fields.erase("stringData");
    if (!texts.is_object()) return;
    json::Object& data = object_in(fields, "data");
    for (const auto& [key, text] : texts.get_object()) {
        if (text.is_string()) data[key] = base64(text.get_string());
    }
}

std::vector<api::Cause> check_data(const api::Kind& kind, const json::Value& object, const json::Value& old) {
    std::vector<api::Cause> causes;
    const auto differs = [&](std::string_view pointer) {
        const json::Value* now = json::find(object, pointer);
        const json::Value* before = json::find(old, pointer);
        return (now == nullptr) != (before == nullptr) || (now != nullptr && !json::equal(*now, *before));
    };
    if (json::bool_at(old, "/immutable")) {
        for (const char* field : {"data", "binaryData"}) {
            if (differs(std::string("/") + field)) {
                causes.push_back(api::forbidden(field, "field is immutable when `immutable` is set"));
            }
        }
        if (!json::bool_at(object, "/immutable"))
            causes.push_back(api::forbidden("immutable", "field is immutable when `immutable` is set"));
    }
    if (kind == api::kSecret && differs("/type")) {
        causes.push_back(api::invalid("type", quoted(json::text_at(object, "/type")), "field is immutable"));
    }
    return causes;
}

std::vector<api::Cause> check_role_reference(const json::Value& object, const json::Value& old) {
    const json::Value* now = json::find(object, "/roleRef");
    const json::Value* before = json::find(old, "/roleRef");
    if (now == nullptr || before == nullptr || json::equal(*now, *before)) return {};
    return {api::invalid("roleRef", json::print(*now), "cannot change roleRef")};
}

}  // namespace

void fill(json::Object& object, std::string_view field, json::Value value) {
    json::Value& slot = object[field];
    if (slot.is_null()) slot = std::move(value);
}

json::Object& object_in(json::Object& object, std::string_view field) {
    json::Value& slot = object[field];
    if (!slot.is_object()) slot = json::Object();
    return slot.get_object();
}

void default_built_in(const Core& core, const api::Kind& kind, json::Value& object) {
    if (kind == api::kNamespace) default_namespace(object);
    if (kind == api::kSecret) default_secret(object);
    if (kind == api::kPod) default_pod(object);
    if (kind == api::kClaim) default_claim(core, object);
    if (kind == api::kVolume) default_volume(object);
    if (kind == api::kStorageClass) default_storage_class(object);
}

void default_built_in_update(const api::Kind& kind, json::Value& object, const json::Value& old) {
    if (kind == api::kNamespace) {
        // The list of namespace finalizers changes through /finalize alone.
        if (const json::Value* finalizers = json::find(old, "/spec/finalizers"))
            json::set(object, "/spec/finalizers", *finalizers);
        json::set(
            object, "/metadata/labels/kubernetes.io~1metadata.name", json::Value(json::text_at(old, "/metadata/name"))
        );
    }
    if (kind == api::kSecret) default_secret(object);
    if (kind == api::kStorageClass) default_storage_class(object);
}

std::vector<api::Cause> check_built_in(const api::Kind& kind, const json::Value& object, const json::Value* old) {
    if (kind == api::kPod) return check_pod(object, old);
    if (kind == api::kClaim) return check_claim(object, old);
    if (kind == api::kVolume) return check_volume(object, old);
    if (kind == api::kStorageClass) return check_storage_class(object, old);
    if (old != nullptr && kind.plural.ends_with("rolebindings")) return check_role_reference(object, *old);
    if (old != nullptr && (kind == api::kConfigMap || kind == api::kSecret)) return check_data(kind, object, *old);
    return {};
}

}  // namespace berth::apiserver
