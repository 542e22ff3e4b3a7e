#include "apiserver/table.hpp"

#include "apiserver/json_path.hpp"
#include "apiserver/printer_columns.hpp"
#include "apiserver/table_columns.hpp"

namespace berth::apiserver {
namespace {

using json::Array;
using json::Object;
using json::Value;

Object column_definition(
    std::string_view name, std::string_view type, std::string_view format, std::string_view description, int priority
) {
    return Object{
        {"name",        name       },
        {"type",        type       },
        {"format",      format     },
        {"description", description},
        {"priority",    priority   }
    };
}

Object name_definition(int priority) {
    return column_definition("Name", "string", "name", "Name must be unique within a namespace.", priority);
}

Array column_definitions(const api::Kind& kind) {
    Array out;
    if (shows_name_first(kind)) out.push_back(name_definition(0));
    const auto built_in = built_in_columns(kind);
    for (const Column& c : built_in) out.push_back(column_definition(c.name, c.type, "", "", c.priority));
    if (built_in.empty()) {
        for (const PrinterColumn& c : printer_columns(kind)) {
            out.push_back(column_definition(c.name, c.type, "", c.description, c.priority));
        }
    }
    if (!shows_name_first(kind)) out.push_back(name_definition(1));
    return out;
}

// A value of another type than the column's is shown as nothing; text columns print what they get.
Value printed_cell(const Value& object, const PrinterColumn& column, Timestamp now) {
    const Value* found = first_at(object, column.json_path);
    if (found == nullptr || found->is_null()) return {};
    if (column.type == "date") {
        if (!found->is_string()) return {};
        const auto at = from_rfc3339(found->get_string());
        return Value(at ? human_duration(now - *at) : "<invalid>");
    }
    if (column.type == "string") return found->is_string() ? *found : Value(json::print(*found));
    const bool is_whole = found->is_int64() || found->is_uint64();
    if (column.type == "integer") return is_whole ? *found : Value();
    if (column.type == "number") return found->is_number() ? *found : Value();
    if (column.type == "boolean") return found->is_bool() ? *found : Value();
    return {};
}

bool is_default_class(const api::Kind& kind, const Value& object) {
    constexpr std::string_view kDefault = "/metadata/annotations/storageclass.kubernetes.io~1is-default-class";
    return kind == api::kStorageClass && json::text_at(object, kDefault) == "true";
}

Array cells_of(const api::Kind& kind, const Value& object, Timestamp now) {
    Array out;
    std::string name(json::text_at(object, "/metadata/name"));
    if (is_default_class(kind, object)) name += " (default)";
    if (shows_name_first(kind)) out.push_back(Value(name));
    const auto built_in = built_in_columns(kind);
    for (const Column& column : built_in) out.push_back(column.cell(object, now));
    if (built_in.empty()) {
        for (const PrinterColumn& column : printer_columns(kind)) out.push_back(printed_cell(object, column, now));
    }
    if (!shows_name_first(kind)) out.push_back(Value(name));
    return out;
}

Value row_of(const api::Kind& kind, const Value& object, IncludeObject include, Timestamp now) {
    Object row;
    row["cells"] = cells_of(kind, object, now);
    switch (include) {
        case IncludeObject::metadata: row["object"] = partial_metadata(object); break;
        case IncludeObject::object: row["object"] = object; break;
        case IncludeObject::none: row["object"] = nullptr; break;
    }
    return row;
}

Object list_meta(const ListMeta& meta) {
    Object out;
    if (!meta.resource_version.empty()) out["resourceVersion"] = meta.resource_version;
    if (!meta.continue_token.empty()) out["continue"] = meta.continue_token;
    if (meta.remaining_count) out["remainingItemCount"] = *meta.remaining_count;
    return out;
}

}  // namespace

Value make_table(
    const api::Kind& kind,
    const std::vector<std::shared_ptr<const Value>>& items,
    const ListMeta& meta,
    IncludeObject include,
    Timestamp now
) {
    Object out{
        {"kind",       "Table"         },
        {"apiVersion", "meta.k8s.io/v1"}
    };
    out["metadata"] = list_meta(meta);
    out["columnDefinitions"] = column_definitions(kind);
    Array rows;
    rows.reserve(items.size());
    for (const auto& item : items) rows.push_back(row_of(kind, *item, include, now));
    out["rows"] = std::move(rows);
    return out;
}

Value make_row_table(const api::Kind& kind, const Value& object, IncludeObject include, Timestamp now, Header header) {
    Object out{
        {"kind",       "Table"         },
        {"apiVersion", "meta.k8s.io/v1"}
    };
    out["metadata"] = list_meta({.resource_version = std::string(json::text_at(object, "/metadata/resourceVersion"))});
    out["columnDefinitions"] = header == Header::with_columns ? column_definitions(kind) : Array();
    Array rows;
    rows.push_back(row_of(kind, object, include, now));
    out["rows"] = std::move(rows);
    return out;
}

Value partial_metadata(const Value& object) {
    const Value* metadata = json::find(object, "/metadata");
    Object out{
        {"kind",       "PartialObjectMetadata"},
        {"apiVersion", "meta.k8s.io/v1"       }
    };
    out["metadata"] = metadata == nullptr ? Value(Object()) : *metadata;
    return out;
}

Value partial_metadata_list(const std::vector<std::shared_ptr<const Value>>& items, const ListMeta& meta) {
    Object out{
        {"kind",       "PartialObjectMetadataList"},
        {"apiVersion", "meta.k8s.io/v1"           }
    };
    out["metadata"] = list_meta(meta);
    Array partial;
    partial.reserve(items.size());
    for (const auto& item : items) partial.push_back(partial_metadata(*item));
    out["items"] = std::move(partial);
    return out;
}

}  // namespace berth::apiserver
