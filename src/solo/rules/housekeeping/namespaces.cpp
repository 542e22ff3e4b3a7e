// A namespace is furnished when it comes, and emptied before it goes. Source: docs/spec/kube-api.md 2.14, 1.5
#include "solo/rules/housekeeping/housekeeping.hpp"

namespace berth::solo {
namespace {

using api::Plan;

bool is_gone(const NamespaceView& view) { return !view.ns; }
bool is_full(const NamespaceView& view) {
    return view.ns->metadata.is_deleting() &&
           std::ranges::any_of(view.content, [](const auto& one) { return !one.second.is_deleting(); });
}
bool is_emptying(const NamespaceView& view) { return view.ns->metadata.is_deleting() && !view.content.empty(); }
bool is_empty_and_ending(const NamespaceView& view) { return view.ns->metadata.is_deleting(); }
bool lacks_furniture(const NamespaceView& view) { return !view.has_service_account || !view.has_root_ca; }

Plan nothing(const NamespaceView&) { return api::settled(); }

api::Wait wait_for_content(const NamespaceView& view) {
    return {"its objects", view.key, std::to_string(view.content.size()) + " objects in it are being deleted"};
}

Plan empty(const NamespaceView& view) {
    Plan plan;
    for (const auto& [key, object] : view.content) {
        if (!object.is_deleting()) plan.add(api::Delete{key, object.uid});
    }
    plan.wait = wait_for_content(view);
    return plan;
}

std::string counted(const std::map<std::string, int>& counts, std::string_view joint) {
    std::string out;
    for (const auto& [name, count] : counts) {
        out += (out.empty() ? "" : ", ") + name + std::string(joint) + std::to_string(count) + " resource instances";
    }
    return out;
}

api::Condition condition(
    const NamespaceView& view, std::string_view type, bool holds, std::string reason, std::string message
) {
    api::Condition out;
    out.type = type;
    out.status = holds ? "True" : "False";
    out.reason = std::move(reason);
    out.message = std::move(message);
    out.last_transition_time = view.now;
    return out;
}

// What an ending namespace still waits for, in Kubernetes' words.
std::vector<api::Condition> conditions(const NamespaceView& view) {
    std::map<std::string, int> kinds, finalizers;
    for (const auto& [key, object] : view.content) {
        ++kinds[key.kind->qualified() + (key.kind->group.empty() ? "." : "")];
        for (const std::string& finalizer : object.finalizers) ++finalizers[finalizer];
    }
    const bool held = !finalizers.empty();
    return {
        condition(
            view,
            "NamespaceDeletionDiscoveryFailure",
            false,
            "ResourcesDiscovered",
            "All resources successfully discovered"
        ),
        condition(
            view,
            "NamespaceDeletionGroupVersionParsingFailure",
            false,
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed"
        ),
        condition(
            view,
            "NamespaceDeletionContentFailure",
            false,
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization"
        ),
        condition(
            view,
            "NamespaceContentRemaining",
            true,
            "SomeResourcesRemain",
            "Some resources are remaining: " + counted(kinds, " has ")
        ),
        condition(
            view,
            "NamespaceFinalizersRemaining",
            held,
            held ? "SomeFinalizersRemain" : "ContentHasNoFinalizers",
            held ? "Some content in the namespace has finalizers remaining: " + counted(finalizers, " in ")
                 : "All content-preserving finalizers finished"
        ),
    };
}

json::Array encoded(const std::vector<api::Condition>& list) {
    json::Array out;
    for (const api::Condition& one : list) {
        out.push_back(json::Object{
            {"type",               one.type                                                  },
            {"status",             one.status                                                },
            {"reason",             one.reason                                                },
            {"message",            one.message                                               },
            {"lastTransitionTime", to_rfc3339(one.last_transition_time.value_or(Timestamp{}))},
        });
    }
    return out;
}

// Whether the status says the same already, apart from times.
bool is_told(const NamespaceView& view, const std::vector<api::Condition>& wanted) {
    const json::Value* told = json::find(view.ns->status, "/conditions");
    if (told == nullptr || !told->is_array() || told->get_array().size() != wanted.size()) return false;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const json::Value& one = told->get_array()[i];
        const bool same = json::text_at(one, "/type") == wanted[i].type &&
                          json::text_at(one, "/status") == wanted[i].status &&
                          json::text_at(one, "/message") == wanted[i].message;
        if (!same) return false;
    }
    return true;
}

Plan report_rest(const NamespaceView& view) {
    Plan plan = api::wait_for(wait_for_content(view));
    const std::vector<api::Condition> wanted = conditions(view);
    if (is_told(view, wanted)) return plan;
    json::Value patch = json::Object{
        {"status", json::Object{{"conditions", encoded(wanted)}}}
    };
    plan.add(api::Patch{view.key, api::Part::status, std::move(patch), view.ns->metadata.uid});
    return plan;
}

Plan finalize(const NamespaceView& view) {
    return api::want(api::Effect{"finalize namespace", view.key.name, json::Object{{"name", view.key.name}}});
}

Plan furnish(const NamespaceView& view) {
    Plan plan;
    if (!view.has_service_account) {
        plan.add(api::Create{
            json::Object{
                         {"apiVersion", "v1"},
                         {"kind", "ServiceAccount"},
                         {"metadata", json::Object{{"name", "default"}, {"namespace", view.key.name}}},
                         }
        });
    }
    if (!view.has_root_ca) {
        plan.add(api::Create{
            json::Object{
                         {"apiVersion", "v1"},
                         {"kind", "ConfigMap"},
                         {"metadata", json::Object{{"name", "kube-root-ca.crt"}, {"namespace", view.key.name}}},
                         {"data", json::Object{{"ca.crt", view.ca_certificate}}},
                         }
        });
    }
    return plan;
}

constexpr api::Rule<NamespaceView> kRules[] = {
    {"A-34", "gone",                        is_gone,                    nothing    },
    {"A-34", "ending-namespace-is-emptied", is_full,                    empty      },
    {"A-35", "what-stays-is-named",         is_emptying,                report_rest},
    {"A-34", "empty-namespace-ends",        is_empty_and_ending,        finalize   },
    {"A-34", "namespace-is-furnished",      lacks_furniture,            furnish    },
    {"A-34", "in-order",                    api::always<NamespaceView>, nothing    },
};

}  // namespace

api::Plan keep_namespace(const NamespaceView& view) { return api::first_match(kRules, view); }

}  // namespace berth::solo
