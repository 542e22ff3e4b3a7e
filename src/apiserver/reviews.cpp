#include "apiserver/reviews.hpp"

#include "apiserver/body.hpp"
#include "base/ascii.hpp"
#include "base/ranges.hpp"

namespace berth::apiserver {
namespace {

bool is_anonymous(const kube::User& user) { return user.name.empty() || user.name == "system:anonymous"; }

std::string verb_text(const Call& call) {
    switch (call.verb) {
        case Verb::get: return "get";
        case Verb::list: return "list";
        case Verb::watch: return "watch";
        case Verb::create: return "create";
        case Verb::update: return "update";
        case Verb::patch: return "patch";
        case Verb::remove: return "delete";
        case Verb::remove_all: return "deletecollection";
    }
    return "get";
}

std::vector<std::string> groups_of(const kube::User& user) {
    std::vector<std::string> groups = user.groups;
    const std::string always = is_anonymous(user) ? "system:unauthenticated" : "system:authenticated";
    if (!contains(groups, always)) groups.push_back(always);
    return groups;
}

json::Value user_document(const kube::User& user) {
    json::Array groups;
    for (const std::string& group : groups_of(user)) groups.push_back(json::Value(group));
    return json::Object{
        {"username", user.name        },
        {"groups",   std::move(groups)}
    };
}

json::Object rules() {
    const json::Array all{"*"};
    json::Object resource{
        {"verbs",     all},
        {"apiGroups", all},
        {"resources", all}
    };
    json::Object path{
        {"verbs",           all},
        {"nonResourceURLs", all}
    };
    return {
        {"resourceRules",    json::Array{std::move(resource)}},
        {"nonResourceRules", json::Array{std::move(path)}    },
        {"incomplete",       false                           }
    };
}

// Whoever is named is somebody, and somebody may do everything: RBAC is not evaluated.
json::Object access_of(const std::string& user) {
    if (user.empty() || user == "system:anonymous")
        return {
            {"allowed", false                                },
            {"reason",  "anonymous users may do nothing here"}
        };
    return {
        {"allowed", true}
    };
}

}  // namespace

std::optional<kube::Response> authorize(const Call& call) {
    const kube::User& user = call.request.user;
    if (!is_anonymous(user) || is_public(call.target)) return {};
    const std::string name = user.name.empty() ? "system:anonymous" : user.name;
    const Target& target = call.target;
    if (target.resource.empty()) {
        const std::string why =
            "User " + quoted(name) + " cannot " + lower(call.request.method) + " path " + quoted(call.request.path);
        return failure(403, "Forbidden", "forbidden: " + why);
    }
    const std::string qualified = target.group.empty() ? target.resource : target.resource + "." + target.group;
    const std::string resource = target.resource + (target.subresource.empty() ? "" : "/" + target.subresource);
    std::string message = qualified + (target.name.empty() ? "" : " " + quoted(target.name)) + " is forbidden: User " +
                          quoted(name) + " cannot " + verb_text(call) + " resource " + quoted(resource) +
                          " in API group " + quoted(target.group);
    message += target.ns.empty() ? " at the cluster scope" : " in the namespace " + quoted(target.ns);
    json::Object details;
    if (!target.name.empty()) details["name"] = target.name;
    if (!target.group.empty()) details["group"] = target.group;
    details["kind"] = target.resource;
    return failure(403, "Forbidden", std::move(message), std::move(details));
}

kube::Response review(const Call& call) {
    if (call.verb != Verb::create) return method_not_allowed();
    struct Row {
        std::string_view resource;
        std::string_view kind;
    };
    constexpr Row kRows[] = {
        {"selfsubjectaccessreviews",  "SelfSubjectAccessReview" },
        {"selfsubjectrulesreviews",   "SelfSubjectRulesReview"  },
        {"subjectaccessreviews",      "SubjectAccessReview"     },
        {"localsubjectaccessreviews", "LocalSubjectAccessReview"},
        {"tokenreviews",              "TokenReview"             },
        {"selfsubjectreviews",        "SelfSubjectReview"       },
    };
    const auto row = std::ranges::find(kRows, std::string_view(call.target.resource), &Row::resource);
    Outcome<json::Value> body = read_options(call.request);
    if (!body) return body.error();
    json::Object out;
    if (const json::Object* given = body->if_object()) out = *given;
    out["kind"] = row->kind;
    out["apiVersion"] = call.target.group + "/" + call.target.version;
    const kube::User& user = call.request.user;
    if (row->kind == "SelfSubjectReview") {
        out["status"] = json::Object{
            {"userInfo", user_document(user)}
        };
    } else if (row->kind == "SelfSubjectRulesReview") {
        out["status"] = rules();
    } else if (row->kind == "TokenReview") {
        out["status"] = json::Object{
            {"user",  json::Object()        },
            {"error", "invalid bearer token"}
        };
    } else if (row->kind == "SelfSubjectAccessReview") {
        out["status"] = access_of(user.name);
    } else {
        out["status"] = access_of(std::string(json::text_at(*body, "/spec/user")));
    }
    json::Value review(std::move(out));
    json::Value* metadata = json::find(review, "/metadata");
    if (metadata == nullptr || !metadata->is_object())
        review.get_object()["metadata"] = json::Object{
            {"creationTimestamp", nullptr}
        };
    return answer(std::move(review), 201);
}

}  // namespace berth::apiserver
