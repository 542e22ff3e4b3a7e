// Tables, the form in which kubectl asks for lists, and the metadata-only form (docs/spec/kube-api.md 2.19). Pure.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "api/kind.hpp"
#include "base/time.hpp"

namespace berth::apiserver {

/// What stands in row.object.
enum class IncludeObject {
    metadata,  ///< PartialObjectMetadata; kubectl takes the namespace and the labels from it
    object,
    none,
};

struct ListMeta {
    std::string resource_version;
    std::string continue_token;  ///< "" on the last page
    std::optional<std::int64_t> remaining_count;
};

/// A Table of a list.
json::Value make_table(
    const api::Kind& kind,
    const std::vector<std::shared_ptr<const json::Value>>& items,
    const ListMeta& meta,
    IncludeObject include,
    Timestamp now
);

enum class Header { with_columns, without_columns };

/// A Table of one object, for GET by name and for watch events; a watch needs the columns in its first event only.
json::Value make_row_table(
    const api::Kind& kind, const json::Value& object, IncludeObject include, Timestamp now, Header header
);

/// The object reduced to its metadata.
json::Value partial_metadata(const json::Value& object);
json::Value partial_metadata_list(const std::vector<std::shared_ptr<const json::Value>>& items, const ListMeta& meta);

}  // namespace berth::apiserver
