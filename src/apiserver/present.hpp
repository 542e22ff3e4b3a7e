// The last step of every answer: the version that was asked for, Table, PartialObjectMetadata, YAML
// (docs/spec/kube-api.md 2.5, 2.19).
#pragma once

#include "apiserver/core.hpp"
#include "apiserver/read.hpp"

namespace berth::apiserver {

class Presenter {
public:
    Presenter(const Core& core, const Call& call);

    /// Gives a successful answer about one object its form; all others pass unchanged.
    void finish(kube::Response& response) const;
    /// The answer that shows a page of a list.
    [[nodiscard]] kube::Response list(const Page& page) const;
    /// The object of a watch event. The columns of a table come with the first one only; bookmarks keep their form.
    [[nodiscard]] std::shared_ptr<const json::Value> event(const kube::WatchEvent& event, bool is_first) const;

private:
    [[nodiscard]] bool changes_nothing() const;
    [[nodiscard]] json::Value shown(const json::Value& object) const;
    [[nodiscard]] std::string served_version() const;

    const Clock& clock_;
    const api::Kind* kind_;
    std::string other_version_;  // when another one than the stored was asked for
    bool is_new_event_;
    bool takes_shared_items_;
    Presentation presentation_;
};

}  // namespace berth::apiserver
