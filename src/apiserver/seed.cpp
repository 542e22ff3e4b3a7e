// The objects that are there from the start (docs/spec/kube-api.md 1.5). Missing ones are made, others are left alone.
#include "apiserver/seed.hpp"

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>

#include "apiserver/crds.hpp"
#include "apiserver/write.hpp"

namespace berth::apiserver {
namespace {

json::Value object_of(const api::Kind& kind, const std::string& ns, const std::string& name) {
    json::Object metadata{
        {"name", name}
    };
    if (!ns.empty()) metadata["namespace"] = ns;
    return json::Object{
        {"kind",       kind.kind          },
        {"apiVersion", kind.api_version() },
        {"metadata",   std::move(metadata)}
    };
}

json::Value priority_class(const std::string& name, std::int64_t value, const std::string& description) {
    json::Value out = object_of(api::kPriorityClass, "", name);
    json::Object& fields = out.get_object();
    fields["value"] = value;
    fields["description"] = description;
    fields["preemptionPolicy"] = "PreemptLowerPriority";
    return out;
}

// The API server as a service of its own cluster.
json::Value own_service() {
    json::Value out = object_of(api::kService, "default", "kubernetes");
    json::set(out, "/metadata/labels/component", json::Value("apiserver"));
    json::set(out, "/metadata/labels/provider", json::Value("kubernetes"));
    json::set(out, "/spec", *json::parse(R"({"type":"ClusterIP","clusterIP":"10.96.0.1","clusterIPs":["10.96.0.1"],
        "ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack","sessionAffinity":"None","internalTrafficPolicy":"Cluster",
        "ports":[{"name":"https","protocol":"TCP","port":443,"targetPort":6443}]})"));
    return out;
}

// How a front proxy would prove itself (3.1). There is none: the certificates of clients are all that counts.
json::Value authentication_config(const Options& options) {
    json::Value out = object_of(api::kConfigMap, "kube-system", "extension-apiserver-authentication");
    json::set(out, "/data/client-ca-file", json::Value(options.ca_certificate));
    return out;
}

std::vector<json::Value> contents(const Options& options, const std::string& ns) {
    std::vector<json::Value> out;
    out.push_back(object_of(api::kServiceAccount, ns, "default"));
    json::Value roots = object_of(api::kConfigMap, ns, "kube-root-ca.crt");
    json::set(
        roots,
        "/metadata/annotations/kubernetes.io~1description",
        json::Value("Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints.")
    );
    json::set(roots, "/data/ca.crt", json::Value(options.ca_certificate));
    out.push_back(std::move(roots));
    return out;
}

// The definition of a schema-served kind follows the program: an older one is brought up to date. It goes straight into
// the store: it is ours, checked by a test, and has a status that no create can set.
Task<Result<void>> define(Core& core, json::Value wanted) {
    const api::Kind& definition = api::kCustomResourceDefinition;
    const std::string name(json::text_at(wanted, "/metadata/name"));
    store::Write write{key_for(definition, "", name), std::nullopt, std::nullopt};
    const store::RecordPtr stored = core.store.newest(write.key);
    if (stored && stored->document.at("spec") == wanted.at("spec")) co_return Result<void>();
    json::Value object = stored ? stored->document : wanted;
    if (!stored) adopt(definition, object, new_uid(core.entropy), core.clock.now());
    json::set(object, "/spec", wanted.at("spec"));
    json::set(object, "/status", wanted.at("status"));
    order_fields(object);
    if (stored) {
        bump_generation(object);
        write.expected = stored->revision;
    }
    write.document = std::move(object);
    const Result<store::RecordPtr> done = co_await core.store.write(std::move(write));
    if (!done) co_return within("define " + name, done.error());
    co_return Result<void>();
}

Task<void> ensure_one(Core& core, json::Value object, Result<void>& outcome) {
    const bool is_definition = json::text_at(object, "/kind") == api::kCustomResourceDefinition.kind;
    Result<void> done;
    if (is_definition) {
        done = co_await define(core, std::move(object));
    } else {
        done = co_await ensure(core, std::move(object));
    }
    if (!done) outcome = std::move(done);
}

// All at once, so that one sync takes them to disk. The order among them is open.
Task<Result<void>> ensure_all(Core& core, std::vector<json::Value> objects) {
    Result<void> outcome;
    TaskGroup group(core.executor);
    for (json::Value& object : objects) group.spawn("seed", ensure_one(core, std::move(object), outcome));
    // The children write into this frame: they end before it does.
    co_await boost::asio::this_coro::reset_cancellation_state(boost::asio::disable_cancellation());
    co_await group.join();
    co_await boost::asio::this_coro::reset_cancellation_state(boost::asio::enable_terminal_cancellation());
    co_return outcome;
}

}  // namespace

Task<Result<void>> furnish(Core& core, std::string ns) {
    std::vector<json::Value> objects = contents(core.options, ns);
    co_return co_await ensure_all(core, std::move(objects));
}

Task<Result<void>> seed_all(Core& core) {
    constexpr const char* kNamespaces[] = {"default", "kube-system", "kube-public", "kube-node-lease"};
    std::vector<json::Value> first;
    for (const char* ns : kNamespaces) first.push_back(object_of(api::kNamespace, "", ns));
    CO_TRY_DO(co_await ensure_all(core, std::move(first)));

    std::vector<json::Value> rest = default_roles();
    for (const char* ns : kNamespaces) std::ranges::move(contents(core.options, ns), std::back_inserter(rest));
    rest.push_back(priority_class(
        "system-cluster-critical",
        2'000'000'000,
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary."
    ));
    rest.push_back(priority_class(
        "system-node-critical",
        2'000'001'000,
        "Used for system critical pods that must not be moved from their current node."
    ));
    rest.push_back(own_service());
    rest.push_back(authentication_config(core.options));
    for (const api::Kind* kind : api::kinds()) {
        if (kind->serving == api::Serving::schema) rest.push_back(crd_of(*kind, core.clock.now()));
    }
    co_return co_await ensure_all(core, std::move(rest));
}

}  // namespace berth::apiserver
