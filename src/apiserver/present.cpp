#include "apiserver/present.hpp"

#include "apiserver/body.hpp"
#include "apiserver/table.hpp"

namespace berth::apiserver {
namespace {

bool is_list(const json::Value& document) {
    const json::Value* items = json::find(document, "/items");
    return items != nullptr && items->is_array();
}

ListMeta list_meta(const json::Value& list) {
    return {
        .resource_version = std::string(json::text_at(list, "/metadata/resourceVersion")),
        .continue_token = std::string(json::text_at(list, "/metadata/continue")),
        .remaining_count = json::integer_at(list, "/metadata/remainingItemCount"),
    };
}

IncludeObject included(const Presentation& presentation) {
    if (presentation.include_object == "None") return IncludeObject::none;
    return presentation.include_object == "Object" ? IncludeObject::object : IncludeObject::metadata;
}

}  // namespace

Presenter::Presenter(const Core& core, const Call& call)
    : clock_(core.clock), kind_(call.target.kind), presentation_(call.presentation) {
    api_version_ = kind_ == nullptr || call.target.version == kind_->version
                       ? std::string()
                       : std::string(kind_->group) + "/" + call.target.version;
}

bool Presenter::changes_nothing() const { return api_version_.empty() && presentation_.transform == Transform::none; }

json::Value Presenter::shown(const json::Value& object) const {
    if (presentation_.transform == Transform::partial || presentation_.transform == Transform::partial_list)
        return partial_metadata(object);
    json::Value out = object;
    if (!api_version_.empty()) json::set(out, "/apiVersion", json::Value(api_version_));
    return out;
}

std::shared_ptr<const json::Value> Presenter::event(std::shared_ptr<const json::Value> object, bool is_bookmark) {
    if (changes_nothing() || is_bookmark) return object;
    if (presentation_.transform == Transform::table) {
        const Header header = std::exchange(has_shown_columns_, true) ? Header::without_columns : Header::with_columns;
        return std::make_shared<const json::Value>(
            make_row_table(*kind_, *object, included(presentation_), clock_.now(), header)
        );
    }
    return std::make_shared<const json::Value>(shown(*object));
}

json::Value Presenter::table_of(const std::shared_ptr<const json::Value>& document) const {
    const IncludeObject include = included(presentation_);
    if (!is_list(*document)) return make_row_table(*kind_, *document, include, clock_.now(), Header::with_columns);
    std::vector<std::shared_ptr<const json::Value>> items;
    for (const json::Value& item : document->at("items").as_array()) items.emplace_back(document, &item);
    return make_table(*kind_, items, list_meta(*document), include, clock_.now());
}

void Presenter::finish(kube::Response& response) const {
    if (!response.document || response.code >= 300) return;
    const bool is_status = json::text_at(*response.document, "/kind") == "Status";
    if (kind_ != nullptr && !is_status && presentation_.transform == Transform::table) {
        response.document = std::make_shared<const json::Value>(table_of(response.document));
    } else if (kind_ != nullptr && !is_status && !changes_nothing()) {
        json::Value out = *response.document;
        if (is_list(out)) {
            for (json::Value& item : out.get_object()["items"].get_array()) item = shown(item);
            if (presentation_.transform == Transform::none) {
                json::set(out, "/apiVersion", json::Value(api_version_));
            } else {
                json::set(out, "/kind", json::Value("PartialObjectMetadataList"));
                json::set(out, "/apiVersion", json::Value("meta.k8s.io/v1"));
            }
        } else {
            out = shown(out);
        }
        response.document = std::make_shared<const json::Value>(std::move(out));
    }
    if (presentation_.as_yaml) {
        response.headers["content-type"] = "application/yaml";
        response.body = print_yaml(*response.document);
        response.document = nullptr;
    }
}

}  // namespace berth::apiserver
