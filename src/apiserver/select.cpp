#include "apiserver/select.hpp"

#include "apiserver/new_events.hpp"
#include "base/ranges.hpp"

namespace berth::apiserver {
namespace {

struct Selectable {
    std::string_view plural;
    std::string_view fields;  // separated by blanks, besides metadata.name and metadata.namespace
};

constexpr Selectable kSelectable[] = {
    {"pods",
     "spec.nodeName spec.restartPolicy spec.schedulerName spec.serviceAccountName spec.hostNetwork status.phase "
     "status.podIP "
     "status.podIPs status.nominatedNodeName"                                                       },
    {"nodes",                  "spec.unschedulable"                                                 },
    {"namespaces",             "status.phase"                                                       },
    {"secrets",                "type"                                                               },
    {"services",               "spec.clusterIP spec.type"                                           },
    {"events",
     "involvedObject.kind involvedObject.namespace involvedObject.name involvedObject.uid involvedObject.apiVersion "
     "involvedObject.resourceVersion involvedObject.fieldPath reason reportingComponent source type"},
    {"replicasets",            "status.replicas"                                                    },
    {"replicationcontrollers", "status.replicas"                                                    },
    {"jobs",                   "status.successful"                                                  },
};

bool may_select(const api::Kind& kind, std::string_view field) {
    if (field == "metadata.name" || field == "metadata.namespace") return true;
    return std::ranges::any_of(kSelectable, [&](const Selectable& row) {
        if (row.plural != kind.plural) return false;
        return std::ranges::any_of(std::views::split(row.fields, ' '), [&](const auto& one) {
            return std::string_view(one) == field;
        });
    });
}

kube::Response cannot_select(const api::Kind& kind, const std::string& field) {
    const bool has_own =
        std::ranges::any_of(kSelectable, [&](const Selectable& row) { return row.plural == kind.plural; });
    if (has_own || kind.serving == api::Serving::schema) return bad_request("field label not supported: " + field);
    return bad_request(
        quoted(field) + " is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
    );
}

// Where an event keeps its component has moved; both places count.
std::string stored_field(const api::Kind& kind, const std::string& field) {
    if (kind.plural == "events" && field == "source") return "source.component";
    return field;
}

}  // namespace

Outcome<Selection> Selection::read(const Call& call) {
    Selection out;
    if (const auto text = call.request.parameter("labelSelector"); text && !text->empty()) {
        auto labels = json::parse_label_selector(*text);
        if (!labels) return refuse(bad_request(labels.error().message));
        out.labels_ = *std::move(labels);
    }
    if (const auto text = call.request.parameter("fieldSelector"); text && !text->empty()) {
        auto fields = json::parse_field_selector(*text);
        if (!fields) return refuse(bad_request(fields.error().message));
        for (json::FieldTerm& term : fields->terms) {
            if (call.target.is_new_event) term.field = stored_event_field(term.field);
            if (!may_select(call.kind(), term.field)) return refuse(cannot_select(call.kind(), term.field));
            term.field = stored_field(call.kind(), term.field);
        }
        out.fields_ = *std::move(fields);
    }
    if (call.target.is_legacy_watch && !call.target.name.empty()) {
        out.fields_.terms.push_back({"metadata.name", call.target.name, false});
    }
    return out;
}

bool Selection::matches(const json::Value& object) const {
    return (fields_.empty() || json::matches(fields_, object)) &&
           (labels_.empty() || json::matches_labels_of(labels_, object));
}

bool Selection::is_empty() const { return fields_.empty() && labels_.empty(); }

}  // namespace berth::apiserver
