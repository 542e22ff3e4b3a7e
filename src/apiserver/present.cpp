#include "apiserver/present.hpp"

#include "apiserver/body.hpp"

namespace berth::apiserver {
namespace {

bool is_list(const json::Value& document) {
    const json::Value* items = json::find(document, "/items");
    return items != nullptr && items->is_array();
}

}  // namespace

json::Value partial(const json::Value& object) {
    const json::Value* metadata = json::find(object, "/metadata");
    json::Object out{{"kind", "PartialObjectMetadata"}, {"apiVersion", "meta.k8s.io/v1"}};
    out["metadata"] = metadata == nullptr ? json::Value(json::Object()) : *metadata;
    return json::Value(std::move(out));
}

Presenter::Presenter(const Core& core, const Call& call)
    : now_(core.clock.now()), kind_(call.target.kind), presentation_(call.presentation) {
    api_version_ = kind_ == nullptr || call.target.version == kind_->version
                       ? std::string()
                       : std::string(kind_->group) + "/" + call.target.version;
}

bool Presenter::changes_nothing() const { return api_version_.empty() && presentation_.transform == Transform::none; }

json::Value Presenter::shown(const json::Value& object) const {
    if (presentation_.transform == Transform::partial || presentation_.transform == Transform::partial_list) return partial(object);
    json::Value out = object;
    if (!api_version_.empty()) json::set(out, "/apiVersion", json::Value(api_version_));
    return out;
}

std::shared_ptr<const json::Value> Presenter::event(std::shared_ptr<const json::Value> object, bool is_bookmark) const {
    if (changes_nothing() || is_bookmark) return object;
    return std::make_shared<const json::Value>(shown(*object));
}

void Presenter::finish(kube::Response& response) const {
    if (!response.document || response.code >= 300) return;
    const bool is_status = json::text_at(*response.document, "/kind") == "Status";
    if (kind_ != nullptr && !is_status && !changes_nothing()) {
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
