#include "solo/rules/housekeeping/housekeeping.hpp"

namespace berth::solo {
namespace {

using api::Plan;

bool is_gone(const NamespaceView& view) { return !view.ns; }
bool is_ending(const NamespaceView& view) { return view.ns->metadata.is_deleting() && !view.content.empty(); }
bool is_empty_and_ending(const NamespaceView& view) { return view.ns->metadata.is_deleting(); }
bool lacks_furniture(const NamespaceView& view) { return !view.has_service_account || !view.has_root_ca; }

Plan nothing(const NamespaceView&) { return api::settled(); }

Plan empty(const NamespaceView& view) {
    Plan plan;
    for (const auto& [key, object] : view.content) {
        if (!object.is_deleting()) plan.add(api::Delete{key, object.uid});
    }
    plan.wait =
        api::Wait{"its objects", view.key, std::to_string(view.content.size()) + " objects in it are being deleted"};
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
                         {"metadata", json::Object{{"name", "default"}, {"namespace", view.key.name}}}
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
    {"A-34", "gone",                        is_gone,                    nothing },
    {"A-34", "ending-namespace-is-emptied", is_ending,                  empty   },
    {"A-34", "empty-namespace-ends",        is_empty_and_ending,        finalize},
    {"A-34", "namespace-is-furnished",      lacks_furniture,            furnish },
    {"A-34", "in-order",                    api::always<NamespaceView>, nothing },
};

}  // namespace

api::Plan keep_namespace(const NamespaceView& view) { return api::first_match(kRules, view); }

}  // namespace berth::solo
