#include "apiserver/present.hpp"

#include "apiserver/body.hpp"
#include "apiserver/new_events.hpp"
#include "apiserver/table.hpp"

namespace berth::apiserver {
namespace {

using Document = std::shared_ptr<const json::Value>;

IncludeObject include_of(const Presentation& presentation) {
    if (presentation.include_object == "None") return IncludeObject::none;
    return presentation.include_object == "Object" ? IncludeObject::object : IncludeObject::metadata;
}

json::Value list_document(const std::string& kind, const std::string& api_version, const ListMeta& meta) {
    json::Object metadata{
        {"resourceVersion", meta.resource_version}
    };
    if (!meta.continue_token.empty()) metadata["continue"] = meta.continue_token;
    if (meta.remaining_count) metadata["remainingItemCount"] = *meta.remaining_count;
    json::Object out;
    out["kind"] = kind + "List";
    out["apiVersion"] = api_version;
    out["metadata"] = std::move(metadata);
    return json::Value(std::move(out));
}

}  // namespace

Presenter::Presenter(const Core& core, const Call& call)
    : clock_(core.clock),
      kind_(call.target.kind),
      is_new_event_(call.target.is_new_event),
      takes_shared_items_(call.request.takes_shared_items),
      presentation_(call.presentation) {
    if (kind_ != nullptr && call.target.version != kind_->version) {
        other_version_ = std::string(kind_->group) + "/" + call.target.version;
    }
}

bool Presenter::changes_nothing() const {
    return other_version_.empty() && !is_new_event_ && presentation_.transform == Transform::none;
}

std::string Presenter::served_version() const {
    if (is_new_event_) return api::kEventsEvent.api_version();
    return other_version_.empty() ? kind_->api_version() : other_version_;
}

json::Value Presenter::shown(const json::Value& object) const {
    switch (presentation_.transform) {
        case Transform::table:
            return make_row_table(*kind_, object, include_of(presentation_), clock_.now(), Header::with_columns);
        case Transform::partial:
        case Transform::partial_list: return partial_metadata(object);
        case Transform::none: break;
    }
    json::Value out = is_new_event_ ? new_event_of(object) : object;
    if (!other_version_.empty()) json::set(out, "/apiVersion", json::Value(other_version_));
    return out;
}

Document Presenter::event(const kube::WatchEvent& event, bool is_first) const {
    if (changes_nothing() || event.type == "ERROR") return event.object;
    if (event.type == "BOOKMARK") {
        json::Value mark = *event.object;
        json::set(mark, "/apiVersion", json::Value(served_version()));
        return std::make_shared<const json::Value>(std::move(mark));
    }
    if (presentation_.transform == Transform::table) {
        const Header header = is_first ? Header::with_columns : Header::without_columns;
        return std::make_shared<const json::Value>(
            make_row_table(*kind_, *event.object, include_of(presentation_), clock_.now(), header)
        );
    }
    return std::make_shared<const json::Value>(shown(*event.object));
}

kube::Response Presenter::list(const Page& page) const {
    ListMeta meta{std::to_string(page.at), page.next, {}};
    if (page.remaining) meta.remaining_count = static_cast<std::int64_t>(*page.remaining);
    std::vector<Document> items;
    items.reserve(page.records.size());
    for (const store::RecordPtr& record : page.records) items.emplace_back(record, &record->document);
    if (presentation_.transform == Transform::table) {
        return answer(make_table(*kind_, items, meta, include_of(presentation_), clock_.now()));
    }
    if (presentation_.transform != Transform::none) return answer(partial_metadata_list(items, meta));

    json::Value out = list_document(std::string(kind_->kind), served_version(), meta);
    if (takes_shared_items_ && changes_nothing()) {
        kube::Response response = answer(std::move(out));
        response.items = std::move(items);
        return response;
    }
    json::Array array;
    array.reserve(items.size());
    for (const Document& item : items) array.push_back(changes_nothing() ? *item : shown(*item));
    out.get_object()["items"] = std::move(array);
    return answer(std::move(out));
}

void Presenter::finish(kube::Response& response) const {
    if (!response.document || response.code >= 300) return;
    const std::string_view answered = json::text_at(*response.document, "/kind");
    const bool is_object = kind_ != nullptr && answered == kind_->kind;
    if (is_object && !changes_nothing())
        response.document = std::make_shared<const json::Value>(shown(*response.document));
    if (!presentation_.as_yaml || kind_ == nullptr) return;
    response.headers["content-type"] = "application/yaml";
    response.body = print_yaml(*response.document);
    response.document = nullptr;
}

}  // namespace berth::apiserver
