// Which objects of a kind a request means: its label and field selectors (docs/spec/kube-api.md 2.17).
#pragma once

#include "apiserver/core.hpp"
#include "json/selector.hpp"

namespace berth::apiserver {

class Selection {
public:
    /// Errors  400: a selector that cannot be read, or a field that cannot be selected by
    static Outcome<Selection> read(const Call& call);

    [[nodiscard]] bool matches(const json::Value& object) const;
    [[nodiscard]] bool is_empty() const;

private:
    json::FieldSelector fields_;
    json::LabelSelector labels_;
};

}  // namespace berth::apiserver
