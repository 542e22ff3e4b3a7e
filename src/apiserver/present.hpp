// The last step of every answer: the version that was asked for, Table, PartialObjectMetadata, YAML
// (docs/spec/kube-api.md 2.5, 2.19).
#pragma once

#include "apiserver/core.hpp"

namespace berth::apiserver {

class Presenter {
public:
    Presenter(const Core& core, const Call& call);

    /// Transforms a successful answer about objects; all others pass unchanged.
    void finish(kube::Response& response) const;
    /// The object of a watch event. Bookmarks keep their form.
    [[nodiscard]] std::shared_ptr<const json::Value> event(std::shared_ptr<const json::Value> object, bool is_bookmark);

private:
    [[nodiscard]] bool changes_nothing() const;
    [[nodiscard]] json::Value shown(const json::Value& object) const;
    [[nodiscard]] json::Value table_of(const std::shared_ptr<const json::Value>& document) const;

    const Clock& clock_;
    const api::Kind* kind_;
    std::string api_version_;
    Presentation presentation_;
    bool has_shown_columns_ = false;  // a watch names them in its first event only
};

}  // namespace berth::apiserver
