// The types of the built-in kinds: one table for protobuf bodies, strict decoding, strategic merge and OpenAPI.
// The table is docs/spec/kube-types.tsv; it is part of the program and read at the first question (about 2 ms, 1 MiB).
#pragma once

#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/kind.hpp"
#include "json/strategic.hpp"

namespace berth::apiserver {

/// What a value is in JSON; kube-types.tsv lists how each is written in protobuf.
enum class Form {
    text,
    boolean,
    int32,
    int64,
    number,
    bytes,       ///< base64
    time,        ///< RFC 3339, seconds
    micro_time,  ///< RFC 3339, six digits
    duration,    ///< "1h2m3s"
    quantity,
    int_or_string,
    any,  ///< any JSON; in protobuf: JSON text
    object,
    list,
    map,
    schema_or_bool,
    schema_or_list,
    schema_or_texts,
};

struct Type;

/// The type of a value. Also what strategic merge asks about the value's fields.
struct Shape final : json::MergeSchema {
    Form form = Form::any;
    const Type* object = nullptr;    ///< of an object, and of the object in schema_or_…
    const Shape* element = nullptr;  ///< of lists and maps
    bool is_wrapped = false;         ///< a list that is a message {1: repeated} in protobuf
    std::string_view go;             ///< as Go names it in errors: "map[string]string", "[]v1.Container"

    [[nodiscard]] json::MergeField field(std::string_view name) const override;
};

struct Field {
    std::string_view name;
    const Shape* shape = nullptr;
    int number = 0;            ///< in protobuf; 0: none
    bool is_pointer = false;   ///< its zero value counts as set
    bool omits_empty = false;  ///< not written when empty
    bool is_optional = false;
    bool is_inlined = false;    ///< a nested message whose fields stand in the parent in JSON
    bool merges = false;        ///< patchStrategy merge
    bool replaces = false;      ///< patchStrategy replace
    bool retains_keys = false;  ///< patchStrategy retainKeys
    std::string_view merge_key;
    std::string_view list_type;      ///< atomic, set, map or ""
    std::string_view list_map_keys;  ///< joined by '+'
    std::string_view map_type;       ///< atomic, granular or ""
    std::string_view default_text;   ///< JSON, or ""

    [[nodiscard]] bool is_required() const { return !omits_empty && !is_optional && !is_inlined; }
};

struct Type {
    std::string_view name;         ///< "core/v1.Pod"
    std::string_view api_version;  ///< "v1", "rbac.authorization.k8s.io/v1"; of options: "meta/v1"
    bool is_root = false;          ///< has kind and apiVersion
    bool is_cluster = false;
    bool is_atomic = false;                 ///< one owner in server-side apply
    std::vector<Field> fields;              ///< as in the table
    std::vector<const Field*> json_fields;  ///< with inlined ones, in order of declaration
    std::map<std::string_view, const Field*> by_name;
    const Shape* shape = nullptr;  ///< of a value of this type

    [[nodiscard]] std::string_view kind() const { return name.substr(name.rfind('.') + 1); }
    /// By JSON name; nullptr when there is none.
    [[nodiscard]] const Field* field(std::string_view json_name) const;
};

/// By document: "apps/v1", "Deployment"; lists too. The kinds of options (DeleteOptions, …) are found under every
/// version. nullptr when it is not built in.
const Type* find_type(std::string_view api_version, std::string_view kind);
/// Of a served kind: nullptr when it is served from a schema.
const Type* type_of(const api::Kind& kind);
/// By the name of the table: "core/v1.PodSpec".
const Type* find_type_named(std::string_view name);
/// All of them, in the order of the table.
std::span<const Type* const> all_types();

/// What a strategic merge patch needs to know of documents of this type.
inline const json::MergeSchema& merge_schema(const Type& type) { return *type.shape; }

}  // namespace berth::apiserver
