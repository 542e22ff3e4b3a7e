#include "solo/controllers/housekeeping.hpp"

#include "api/codec.hpp"
#include "solo/controllers/graph.hpp"

namespace berth::solo {
namespace {

using kube::WorkKey;

bool is_collected(const api::Kind& kind) { return !(kind == api::kEvent) && kind.group != "events.k8s.io"; }

// --- garbage collection ---

struct Collector {
    explicit Collector(kube::Engine& e) : engine(e) {}

    kube::Engine& engine;
    Graph graph;
    kube::Engine::Enqueue enqueue;

    void changed(const api::Kind& kind, const api::ObjectMeta* before, const api::ObjectMeta* after) {
        if (before != nullptr && (after == nullptr || after->uid != before->uid)) gone(*before);
        if (after == nullptr) return;
        graph.put(kind, *after);
        if (!after->owner_references.empty() || after->is_deleting()) enqueue({&kind, after->ns, after->name});
    }

    void gone(const api::ObjectMeta& object) {
        const std::vector<const Graph::Entry*> orphans = graph.dependents_of(object.uid);
        if (!orphans.empty()) graph.confirm_absent(object.uid);
        for (const Graph::Entry* one : orphans) enqueue(one->key);
        for (const api::OwnerReference& owner : object.owner_references) {
            if (const Graph::Entry* one = graph.find(owner.uid)) enqueue(one->key);
        }
        graph.remove(object.uid);
    }

    Task<Result<void>> look_for_owners(api::Effect effect) {
        const WorkKey dependent{&api::kPod, std::string(json::text_at(effect.args, "/namespace")), ""};
        for (const json::Value& one : effect.args.at("owners").as_array()) {
            api::OwnerReference owner;
            owner.api_version = json::text_at(one, "/apiVersion");
            owner.kind = json::text_at(one, "/kind");
            owner.name = json::text_at(one, "/name");
            owner.uid.value = json::text_at(one, "/uid");
            WorkKey key = owner_key(owner, dependent);
            if (key.kind == nullptr) continue;
            const Result<kube::Document> found = co_await engine.api().get(std::move(key));
            if (!found && found.error().kind != ErrorKind::not_found) co_return std::unexpected(found.error());
            const bool is_absent = !found || json::text_at(**found, "/metadata/uid") != owner.uid.value;
            if (!is_absent) continue;  // a cache lags: it will show the owner
            graph.confirm_absent(owner.uid);
            for (const Graph::Entry* orphan : graph.dependents_of(owner.uid)) enqueue(orphan->key);
        }
        co_return Result<void>();
    }
};

std::shared_ptr<Collector> add_collector(kube::Engine& engine) {
    const auto state = std::make_shared<Collector>(engine);
    kube::Controller controller;
    controller.name = "garbage-collector";
    controller.user = {"system:serviceaccount:kube-system:generic-garbage-collector", {"system:authenticated"}};
    controller.parallel = 8;
    controller.plan = [state](const WorkKey& key) { return collect(state->graph.view_of(key)); };
    controller.effect = [state](api::Effect effect) { return state->look_for_owners(std::move(effect)); };
    state->enqueue = engine.add(std::move(controller));
    for (const api::Kind* kind : api::kinds()) {
        if (!is_collected(*kind)) continue;
        engine.metadata_cache(*kind).listen([state, kind](const auto* before, const auto* after) {
            state->changed(*kind, before, after);
        });
    }
    return state;
}

// --- namespaces ---

// Events have no place in the graph; they go with their namespace.
Task<Result<void>> finalize(kube::Api server, std::string name) {
    kube::Request events;
    events.method = "DELETE";
    events.path = kube::path_of(api::kEvent, name);
    const Result<kube::Response> emptied = co_await server.raw(std::move(events));
    if (!emptied) co_return std::unexpected(emptied.error());
    api::Key key{&api::kNamespace, "", name};
    const Result<kube::Document> found = co_await server.get(std::move(key));
    if (!found) co_return found.error().kind == ErrorKind::not_found ? Result<void>() : std::unexpected(found.error());
    json::Value document = **found;
    json::set(document, "/spec/finalizers", json::Value(json::Array()));
    const Result<kube::Document> done = co_await server.update(std::move(document), "finalize");
    if (!done && done.error().kind != ErrorKind::not_found) co_return std::unexpected(done.error());
    co_return Result<void>();
}

void add_namespaces(kube::Engine& engine, const std::shared_ptr<Collector>& collector, std::string ca_certificate) {
    auto& namespaces = engine.cache<api::Namespace>(api::kNamespace);
    kube::Controller controller;
    controller.name = "namespace-controller";
    controller.user = {"system:serviceaccount:kube-system:namespace-controller", {"system:authenticated"}};
    controller.plan = [collector, &namespaces, &engine, ca_certificate](const WorkKey& key) {
        NamespaceView view;
        view.key = key;
        view.now = engine.clock().now();
        view.ca_certificate = ca_certificate;
        if (const api::Namespace* ns = namespaces.get("", key.name)) view.ns = *ns;
        for (const Graph::Entry* entry : collector->graph.content_of(key.name))
            view.content.emplace_back(entry->key, entry->meta);
        view.has_service_account = collector->graph.has({&api::kServiceAccount, key.name, "default"});
        view.has_root_ca = collector->graph.has({&api::kConfigMap, key.name, "kube-root-ca.crt"});
        return keep_namespace(view);
    };
    const kube::Api server = engine.api();
    controller.effect = [server](api::Effect effect) {
        return finalize(server, std::string(json::text_at(effect.args, "/name")));
    };
    const auto enqueue = engine.add(std::move(controller));
    namespaces.listen([enqueue](const api::ObjectMeta* before, const api::ObjectMeta* after) {
        enqueue({&api::kNamespace, "", after != nullptr ? after->name : before->name});
    });
    for (const api::Kind* kind : api::kinds()) {
        if (!kind->is_namespaced() || !is_collected(*kind)) continue;
        engine.metadata_cache(*kind).listen([enqueue,
                                             &namespaces](const api::ObjectMeta* before, const api::ObjectMeta* after) {
            const api::ObjectMeta& meta = after != nullptr ? *after : *before;
            const api::Namespace* ns = namespaces.get("", meta.ns);
            if (ns != nullptr && ns->metadata.is_deleting()) enqueue({&api::kNamespace, "", meta.ns});
        });
    }
}

// --- pods of nodes that are gone ---

struct Stranded {
    explicit Stranded(kube::Engine& e)
        : engine(e), pods(e.cache<api::Pod>(api::kPod)), nodes(e.cache<api::Node>(api::kNode)) {}

    kube::Engine& engine;
    kube::Cache<api::Pod>& pods;
    kube::Cache<api::Node>& nodes;
    kube::Engine::Enqueue enqueue;
    std::map<std::string, Timestamp> missing_since;
    std::set<std::string> confirmed;

    StrandedPodView fill(const WorkKey& key) {
        StrandedPodView view;
        view.key = key;
        view.now = engine.clock().now();
        const api::Pod* pod = pods.get(key.ns, key.name);
        if (pod == nullptr) return view;
        view.pod = *pod;
        const std::string& name = pod->spec.node_name;
        view.has_node = nodes.get("", name) != nullptr;
        if (!name.empty() && !view.has_node)
            view.missing_since = missing_since.try_emplace(name, view.now).first->second;
        view.is_confirmed = confirmed.contains(name);
        return view;
    }

    void enqueue_pods_of(const std::string& node) {
        for (const api::Pod* pod : pods.all()) {
            if (pod->spec.node_name == node) enqueue({&api::kPod, pod->metadata.ns, pod->metadata.name});
        }
    }

    Task<Result<void>> look_for_node(api::Effect effect) {
        const std::string name(json::text_at(effect.args, "/name"));
        api::Key key{&api::kNode, "", name};
        const Result<kube::Document> found = co_await engine.api().get(std::move(key));
        if (!found && found.error().kind != ErrorKind::not_found) co_return std::unexpected(found.error());
        if (found) co_return Result<void>();
        confirmed.insert(name);
        enqueue_pods_of(name);
        co_return Result<void>();
    }
};

void add_pod_collector(kube::Engine& engine) {
    const auto state = std::make_shared<Stranded>(engine);
    kube::Controller controller;
    controller.name = "pod-garbage-collector";
    controller.user = {"system:serviceaccount:kube-system:pod-garbage-collector", {"system:authenticated"}};
    controller.plan = [state](const WorkKey& key) { return collect_pod(state->fill(key)); };
    controller.effect = [state](api::Effect effect) { return state->look_for_node(std::move(effect)); };
    state->enqueue = engine.add(std::move(controller));
    state->nodes.listen([state](const api::ObjectMeta* before, const api::ObjectMeta* after) {
        const std::string& name = after != nullptr ? after->name : before->name;
        if (before != nullptr && after != nullptr) return;
        state->missing_since.erase(name);
        state->confirmed.erase(name);
        state->enqueue_pods_of(name);
    });
    state->pods.listen([state](const api::ObjectMeta*, const api::ObjectMeta* after) {
        const api::Pod* pod = after == nullptr ? nullptr : state->pods.get(after->ns, after->name);
        const bool is_stranded =
            pod != nullptr && !pod->spec.node_name.empty() && state->nodes.get("", pod->spec.node_name) == nullptr;
        if (is_stranded) state->enqueue({&api::kPod, after->ns, after->name});
    });
}

}  // namespace

void add_housekeeping(kube::Engine& engine, std::string ca_certificate) {
    engine.cache<api::Namespace>(api::kNamespace);  // by its type, before the collector takes it by its metadata
    add_pod_collector(engine);
    const auto collector = add_collector(engine);  // first: its listeners keep the graph that the next one looks at
    add_namespaces(engine, collector, std::move(ca_certificate));
}

}  // namespace berth::solo
