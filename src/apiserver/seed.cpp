// The objects that are there from the start (docs/spec/kube-api.md 1.5). Missing ones are made, others are left alone.
#include "apiserver/seed.hpp"

#include "apiserver/crds.hpp"
#include "apiserver/write.hpp"

namespace berth::apiserver {
namespace {

json::Value object_of(const api::Kind& kind, const std::string& ns, const std::string& name) {
    json::Object metadata{{"name", name}};
    if (!ns.empty()) metadata["namespace"] = ns;
    return json::Object{{"kind", kind.kind}, {"apiVersion", kind.api_version()}, {"metadata", std::move(metadata)}};
}

json::Value priority_class(const std::string& name, std::int64_t value, const std::string& description) {
    json::Value out = object_of(api::kPriorityClass, "", name);
    json::Object& fields = out.get_object();
    fields["value"] = value;
    fields["description"] = description;
    fields["preemptionPolicy"] = "PreemptLowerPriority";
    return out;
}

std::vector<json::Value> contents(const Options& options, const std::string& ns) {
    std::vector<json::Value> out;
    out.push_back(object_of(api::kServiceAccount, ns, "default"));
    json::Value roots = object_of(api::kConfigMap, ns, "kube-root-ca.crt");
    json::set(roots, "/metadata/annotations/kubernetes.io~1description", json::Value(
        "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints."
    ));
    json::set(roots, "/data/ca.crt", json::Value(options.ca_certificate));
    out.push_back(std::move(roots));
    return out;
}

}  // namespace

Task<Result<void>> furnish(Core& core, std::string ns) {
    for (json::Value& object : contents(core.options, ns)) {
        CO_TRY_DO(co_await ensure(core, std::move(object)));
    }
    co_return Result<void>();
}

// The definition of a schema-served kind follows the program: an older one is brought up to date. Its status is not
// settable by a create, so that is a second step.
Task<Result<void>> define(Core& core, const api::Kind& kind) {
    const json::Value wanted = crd_of(kind, core.clock.now());
    CO_TRY_DO(co_await ensure(core, wanted));
    const api::Kind& definition = api::kCustomResourceDefinition;
    const store::RecordPtr stored = core.store.newest(key_for(definition, "", kind.qualified()));
    if (!stored) co_return fail(ErrorKind::conflict, "the definition of " + kind.qualified() + " was deleted at start-up");
    const bool is_established = json::find(stored->document, "/status/conditions/1") != nullptr;
    if (is_established && stored->document.at("spec") == wanted.at("spec")) co_return Result<void>();
    json::Value proposed = stored->document;
    json::set(proposed, "/spec", wanted.at("spec"));
    json::set(proposed, "/status", wanted.at("status"));
    Amendment amendment{&definition, Scope::whole, false, {"system:apiserver", {"system:masters"}}};
    const kube::Response response = co_await amend(core, std::move(amendment), stored, std::move(proposed));
    if (response.code == 200) co_return Result<void>();
    co_return fail(ErrorKind::io, "define " + kind.qualified() + ": " + std::string(json::text_at(*response.document, "/message")));
}

Task<Result<void>> seed_all(Core& core) {
    for (const char* ns : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
        CO_TRY_DO(co_await ensure(core, object_of(api::kNamespace, "", ns)));
        CO_TRY_DO(co_await furnish(core, ns));
    }
    CO_TRY_DO(co_await ensure(core, priority_class(
        "system-cluster-critical", 2'000'000'000,
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary."
    )));
    CO_TRY_DO(co_await ensure(core, priority_class(
        "system-node-critical", 2'000'001'000, "Used for system critical pods that must not be moved from their current node."
    )));
    for (const api::Kind* kind : api::kinds()) {
        if (kind->serving == api::Serving::schema) CO_TRY_DO(co_await define(core, *kind));
    }
    co_return Result<void>();
}

}  // namespace berth::apiserver
