#include "apiserver/crds.hpp"

#include <map>

#include "api/codec.hpp"
#include "api/kubevirt.hpp"
#include "apiserver/printer_columns.hpp"
#include "apiserver/resources.hpp"

namespace berth::apiserver {
namespace {

using json::Array;
using json::Object;
using json::Value;

Value open_schema() {
    return Object{
        {"type",                                 "object"},
        {"x-kubernetes-preserve-unknown-fields", true    }
    };
}

Value described(const api::Kind& kind) {
    if (kind == api::kVirtualMachine) return api::schema<api::VirtualMachine>();
    if (kind == api::kVmi) return api::schema<api::VirtualMachineInstance>();
    if (kind == api::kKubeVirt) return api::schema<api::KubeVirt>();
    if (kind == api::kDataVolume) return api::schema<api::DataVolume>();
    if (kind == api::kStorageProfile) return api::schema<api::StorageProfile>();
    if (kind == api::kCdiConfig) return api::schema<api::CdiConfig>();
    Object spec{
        {"type",                                 "object"},
        {"x-kubernetes-preserve-unknown-fields", true    }
    };
    Object properties;
    properties["spec"] = spec;
    properties["status"] = std::move(spec);
    return Object{
        {"type",       "object"             },
        {"properties", std::move(properties)}
    };
}

Value text_property(std::string_view description) {
    return Object{
        {"type",        "string"   },
        {"description", description}
    };
}

// The description with what every object has. The metadata of the root is checked by the server, not by the schema.
Value whole_schema(const api::Kind& kind) {
    Value schema = described(kind);
    Object& object = schema.get_object();
    Object properties;
    properties["apiVersion"] = text_property("Group and version of the schema this object follows.");
    properties["kind"] = text_property("The kind of this object.");
    properties["metadata"] = Object{
        {"type", "object"}
    };
    for (auto& [key, value] : object["properties"].get_object()) {
        if (key != "metadata") properties[key] = std::move(value);
    }
    object["properties"] = std::move(properties);
    return schema;
}

Array texts(const std::vector<std::string_view>& words) {
    Array out;
    for (const std::string_view word : words) out.push_back(Value(word));
    return out;
}

Array columns_of(const api::Kind& kind) {
    Array out;
    for (const PrinterColumn& column : printer_columns(kind)) {
        Object one{
            {"name",     column.name     },
            {"type",     column.type     },
            {"jsonPath", column.json_path}
        };
        if (!column.description.empty()) one["description"] = column.description;
        if (column.priority != 0) one["priority"] = column.priority;
        out.push_back(std::move(one));
    }
    return out;
}

Object names_of(const api::Kind& kind) {
    Object names{
        {"plural",   kind.plural  },
        {"singular", kind.singular}
    };
    if (!kind.short_names.empty()) names["shortNames"] = texts(words_of(kind.short_names));
    names["kind"] = kind.kind;
    names["listKind"] = std::string(kind.kind) + "List";
    if (kind.in_all) names["categories"] = texts({"all"});
    return names;
}

Object version_of(const api::Kind& kind, std::string_view version) {
    const bool is_stored = version == kind.version;
    Object out{
        {"name",    version  },
        {"served",  true     },
        {"storage", is_stored}
    };
    if (const std::string warning = deprecation_warning(kind, version); !warning.empty()) {
        out["deprecated"] = true;
        out["deprecationWarning"] = warning;
    }
    Object schema;
    schema["openAPIV3Schema"] = is_stored ? served_schema(kind) : open_schema();
    out["schema"] = std::move(schema);
    if (kind.has_status)
        out["subresources"] = Object{
            {"status", Object()}
        };
    out["additionalPrinterColumns"] = columns_of(kind);
    return out;
}

Object condition(std::string_view type, std::string_view reason, std::string_view message, Timestamp at) {
    return Object{
        {"type",               type          },
        {"status",             "True"        },
        {"lastTransitionTime", to_rfc3339(at)},
        {"reason",             reason        },
        {"message",            message       }
    };
}

Object status_of(const api::Kind& kind, Timestamp at) {
    Array conditions;
    conditions.push_back(condition("NamesAccepted", "NoConflicts", "no conflicts found", at));
    conditions.push_back(condition("Established", "InitialNamesAccepted", "the initial names have been accepted", at));
    Object out;
    out["conditions"] = std::move(conditions);
    out["acceptedNames"] = names_of(kind);
    out["storedVersions"] = texts({kind.version});
    return out;
}

}  // namespace

const json::Value& served_schema(const api::Kind& kind) {
    static const std::map<std::string_view, Value> by_plural = [] {  // read once and never changed
        std::map<std::string_view, Value> out;
        for (const api::Kind* one : api::kinds()) {
            if (one->serving == api::Serving::schema) out[one->plural] = whole_schema(*one);
        }
        return out;
    }();
    return by_plural.at(kind.plural);
}

std::string deprecation_warning(const api::Kind& kind, std::string_view version) {
    if (version == kind.version) return {};
    return group_version(kind.group, version) + " is now deprecated and will be removed in a future release; use " +
           kind.api_version();
}

json::Value crd_of(const api::Kind& kind, Timestamp at) {
    Array versions;
    versions.push_back(version_of(kind, kind.version));
    for (const std::string_view version : words_of(kind.other_versions)) versions.push_back(version_of(kind, version));
    Object spec{
        {"group", kind.group}
    };
    spec["names"] = names_of(kind);
    spec["scope"] = kind.is_namespaced() ? "Namespaced" : "Cluster";
    spec["versions"] = std::move(versions);
    spec["conversion"] = Object{
        {"strategy", "None"}
    };
    Object out{
        {"kind",       "CustomResourceDefinition"},
        {"apiVersion", "apiextensions.k8s.io/v1" }
    };
    out["metadata"] = Object{
        {"name", kind.qualified()}
    };
    out["spec"] = std::move(spec);
    out["status"] = status_of(kind, at);
    return out;
}

}  // namespace berth::apiserver
