#include "apiserver/names.hpp"

#include "apiserver/status.hpp"
#include "base/ascii.hpp"
#include "base/names.hpp"
#include "base/ranges.hpp"

namespace berth::apiserver {
namespace {

constexpr std::string_view kSubdomainText =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an "
    "alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kLabelText =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric "
    "character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kServiceText =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an "
    "alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kQualifiedText =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. "
    "'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view kValueText =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an "
    "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
constexpr std::size_t kAnnotationBytesMax = 256 * 1024;

bool is_standard_finalizer(std::string_view text) {
    return text == "orphan" || text == "foregroundDeletion" || text == "kubernetes";
}

const json::Object* object_at(const json::Value& root, std::string_view pointer) {
    const json::Value* value = json::find(root, pointer);
    return value == nullptr ? nullptr : value->if_object();
}

const json::Array* array_at(const json::Value& root, std::string_view pointer) {
    const json::Value* value = json::find(root, pointer);
    return value == nullptr ? nullptr : value->if_array();
}

void check_name(const api::Kind& kind, const json::Value& object, std::vector<api::Cause>& causes) {
    const std::string name(json::text_at(object, "/metadata/name"));
    const auto wrong = [&](std::string_view text) {
        causes.push_back(api::invalid("metadata.name", quoted(name), std::string(text)));
    };
    if (name.empty()) {
        causes.push_back(api::required("metadata.name", "name or generateName is required"));
    } else if (kind.group == "rbac.authorization.k8s.io") {
        if (name == "." || name == ".." || name.find_first_of("/%") != std::string::npos)
            wrong("may not contain '/' or '%'");
    } else if (kind == api::kNamespace) {
        if (!is_dns_label(name)) wrong(kLabelText);
    } else if (kind == api::kService) {
        if (!is_dns_label(name) || (name.front() >= '0' && name.front() <= '9')) wrong(kServiceText);
    } else if (!is_dns_subdomain(name)) {
        wrong(kSubdomainText);
    }
}

void check_labels(const json::Value& object, std::vector<api::Cause>& causes) {
    const json::Object* labels = object_at(object, "/metadata/labels");
    if (labels == nullptr) return;
    for (const auto& [key, value] : *labels) {
        if (!is_qualified_name(key))
            causes.push_back(api::invalid("metadata.labels", quoted(key), std::string(kQualifiedText)));
        const std::string_view text = value.is_string() ? std::string_view(value.get_string()) : std::string_view();
        if (!text.empty() && !is_label_word(text)) {
            causes.push_back(api::invalid("metadata.labels", quoted(text), std::string(kValueText)));
        }
    }
}

void check_annotations(const json::Value& object, std::vector<api::Cause>& causes) {
    const json::Object* annotations = object_at(object, "/metadata/annotations");
    if (annotations == nullptr) return;
    std::size_t bytes = 0;
    for (const auto& [key, value] : *annotations) {
        bytes += key.size() + (value.is_string() ? value.get_string().size() : 0);
        if (!is_qualified_name(lower(key))) {
            causes.push_back(api::invalid("metadata.annotations", quoted(key), std::string(kQualifiedText)));
        }
    }
    if (bytes > kAnnotationBytesMax) {
        causes.push_back({"FieldValueTooLong", "Too long: must have at most 262144 bytes", "metadata.annotations"});
    }
}

void check_finalizers(const json::Value& object, std::vector<api::Cause>& causes) {
    const json::Array* finalizers = array_at(object, "/metadata/finalizers");
    if (finalizers == nullptr) return;
    for (const json::Value& finalizer : *finalizers) {
        const std::string_view text =
            finalizer.is_string() ? std::string_view(finalizer.get_string()) : std::string_view();
        if (is_standard_finalizer(text) || (text.find('/') != std::string_view::npos && is_qualified_name(text)))
            continue;
        causes.push_back(api::invalid(
            "metadata.finalizers", quoted(text), "name is neither a standard finalizer name nor is it fully qualified"
        ));
    }
}

void check_owners(const json::Value& object, std::vector<api::Cause>& causes) {
    const json::Array* owners = array_at(object, "/metadata/ownerReferences");
    if (owners == nullptr) return;
    int controllers = 0;
    for (std::size_t i = 0; i < owners->size(); ++i) {
        const std::string at = "metadata.ownerReferences[" + std::to_string(i) + "]";
        for (const char* field : {"apiVersion", "kind", "name", "uid"}) {
            if (!json::text_at((*owners)[i], std::string("/") + field).empty()) continue;
            causes.push_back(api::invalid(at + "." + field, "\"\"", std::string(field) + " must not be empty"));
        }
        if (json::bool_at((*owners)[i], "/controller")) ++controllers;
    }
    if (controllers < 2) return;
    causes.push_back(api::invalid(
        "metadata.ownerReferences",
        std::to_string(controllers) + " references",
        "Only one reference can have Controller set to true"
    ));
}

}  // namespace

std::vector<api::Cause> check_metadata(const api::Kind& kind, const json::Value& object) {
    std::vector<api::Cause> causes;
    check_name(kind, object, causes);
    check_labels(object, causes);
    check_annotations(object, causes);
    check_finalizers(object, causes);
    check_owners(object, causes);
    return causes;
}

}  // namespace berth::apiserver
