// The roles that every cluster has. They are stored for tools that look for them; nothing evaluates them yet.
// Source: https://kubernetes.io/docs/reference/access-authn-authz/rbac/#default-roles-and-role-bindings
#include "apiserver/resources.hpp"
#include "apiserver/seed.hpp"

namespace berth::apiserver {
namespace {

json::Array words(std::string_view list) {
    json::Array out;
    for (const std::string_view word : words_of(list)) out.push_back(json::Value(word));
    return out;
}

struct RoleRow {
    const char* name;
    const char* groups;     // separated by blanks
    const char* resources;  // "" = paths only
    const char* verbs;
    const char* paths;
};

constexpr const char* kPublicPaths = "/healthz /livez /readyz /version /version/";
constexpr const char* kAllVerbs = "create delete deletecollection get list patch update watch";

constexpr RoleRow kRoles[] = {
    {"cluster-admin",             "*",                    "*",                                                "*",              "*"                                                                                       },
    {"admin",                     "*",                    "*",                                                kAllVerbs,        ""                                                                                        },
    {"edit",                      "*",                    "*",                                                kAllVerbs,        ""                                                                                        },
    {"view",                      "*",                    "*",                                                "get list watch", ""                                                                                        },
    {"system:discovery",
     "",                                                  "",
     "get",                                                                                                                     "/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/"},
    {"system:basic-user",         "authorization.k8s.io", "selfsubjectaccessreviews selfsubjectrulesreviews", "create",         ""                                                                                        },
    {"system:public-info-viewer", "",                     "",                                                 "get",            kPublicPaths                                                                              },
    {"system:auth-delegator",
     "authentication.k8s.io authorization.k8s.io",        "tokenreviews subjectaccessreviews",
     "create",                                                                                                                  ""                                                                                        },
};

struct BindingRow {
    const char* role;
    const char* groups;
};

constexpr BindingRow kBindings[] = {
    {"cluster-admin",             "system:masters"                             },
    {"system:discovery",          "system:authenticated"                       },
    {"system:basic-user",         "system:authenticated"                       },
    {"system:public-info-viewer", "system:authenticated system:unauthenticated"},
};

constexpr const char* kRbac = "rbac.authorization.k8s.io/v1";

json::Object named(const char* kind, const std::string& name) {
    json::Object labels{
        {"kubernetes.io/bootstrapping", "rbac-defaults"}
    };
    json::Object metadata{
        {"name", name}
    };
    metadata["labels"] = std::move(labels);
    return {
        {"kind",       kind               },
        {"apiVersion", kRbac              },
        {"metadata",   std::move(metadata)}
    };
}

json::Value role_of(const RoleRow& row) {
    json::Array rules;
    if (*row.resources != '\0') {
        json::Object rule;
        rule["verbs"] = words(row.verbs);
        rule["apiGroups"] = words(row.groups);
        rule["resources"] = words(row.resources);
        rules.push_back(std::move(rule));
    }
    if (*row.paths != '\0') {
        json::Object rule;
        rule["verbs"] = words(row.verbs);
        rule["nonResourceURLs"] = words(row.paths);
        rules.push_back(std::move(rule));
    }
    json::Object out = named("ClusterRole", row.name);
    out["rules"] = std::move(rules);
    return json::Value(std::move(out));
}

json::Value binding_of(const BindingRow& row) {
    json::Array subjects;
    for (const std::string_view group : words_of(row.groups)) {
        subjects.push_back(json::Object{
            {"kind",     "Group"                    },
            {"apiGroup", "rbac.authorization.k8s.io"},
            {"name",     group                      }
        });
    }
    json::Object out = named("ClusterRoleBinding", row.role);
    out["roleRef"] = json::Object{
        {"apiGroup", "rbac.authorization.k8s.io"},
        {"kind",     "ClusterRole"              },
        {"name",     row.role                   }
    };
    out["subjects"] = std::move(subjects);
    return json::Value(std::move(out));
}

}  // namespace

std::vector<json::Value> default_roles() {
    std::vector<json::Value> out;
    for (const RoleRow& row : kRoles) out.push_back(role_of(row));
    for (const BindingRow& row : kBindings) out.push_back(binding_of(row));
    return out;
}

}  // namespace berth::apiserver
