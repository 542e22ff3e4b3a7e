#include "solo/controllers/housekeeping.hpp"

#include "api/core.hpp"
#include "solo/rules/housekeeping/housekeeping.hpp"

#include <set>

namespace berth::solo {
namespace {

using kube::WorkKey;

// Every object by UID, who owns whom, and what is in which namespace.
struct Graph {
    struct Entry {
        WorkKey key;
        api::ObjectMeta meta;
    };
    std::map<Uid, Entry> objects;
    std::map<Uid, std::set<Uid>> dependents;
    std::map<std::string, std::set<Uid>> in_namespace;
    std::map<WorkKey, Uid> by_key;

    void put(const api::Kind& kind, const api::ObjectMeta& meta) {
        remove(meta.uid);
        const WorkKey key{&kind, meta.ns, meta.name};
        objects[meta.uid] = {key, meta};
        by_key[key] = meta.uid;
        for (const api::OwnerReference& owner : meta.owner_references) dependents[owner.uid].insert(meta.uid);
        if (!meta.ns.empty()) in_namespace[meta.ns].insert(meta.uid);
    }

    void remove(const Uid& uid) {
        const auto it = objects.find(uid);
        if (it == objects.end()) return;
        for (const api::OwnerReference& owner : it->second.meta.owner_references) dependents[owner.uid].erase(uid);
        in_namespace[it->second.meta.ns].erase(uid);
        const auto known = by_key.find(it->second.key);
        if (known != by_key.end() && known->second == uid) by_key.erase(known);
        objects.erase(it);
    }

    [[nodiscard]] GarbageView view_of(const WorkKey& key) const {
        GarbageView view;
        view.key = key;
        const auto known = by_key.find(key);
        if (known == by_key.end()) return view;
        view.object = objects.at(known->second).meta;
        for (const api::OwnerReference& owner : view.object->owner_references) {
            const auto it = objects.find(owner.uid);
            // An owner is looked for in the object's own namespace or in the cluster's scope.
            view.owner_exists.push_back(
                it != objects.end() && (it->second.key.ns.empty() || it->second.key.ns == key.ns)
            );
        }
        const auto owned = dependents.find(known->second);
        if (owned == dependents.end()) return view;
        for (const Uid& uid : owned->second) view.dependents.emplace_back(objects.at(uid).key, objects.at(uid).meta);
        return view;
    }
};

bool is_collected(const api::Kind& kind) { return !(kind == api::kEvent) && kind.group != "events.k8s.io"; }

Task<Result<void>> finalize(kube::Api server, std::string name) {
    api::Key key{&api::kNamespace, "", name};
    const Result<kube::Document> found = co_await server.get(std::move(key));
    if (!found) co_return found.error().kind == ErrorKind::not_found ? Result<void>() : std::unexpected(found.error());
    json::Value document = **found;
    json::set(document, "/spec/finalizers", json::Value(json::Array()));
    const Result<kube::Document> done = co_await server.update(std::move(document), "finalize");
    if (!done && done.error().kind != ErrorKind::not_found) co_return std::unexpected(done.error());
    co_return Result<void>();
}

void add_collector(kube::Engine& engine, const std::shared_ptr<Graph>& graph) {
    kube::Controller controller;
    controller.name = "garbage-collector";
    controller.user = {"system:serviceaccount:kube-system:generic-garbage-collector", {"system:authenticated"}};
    controller.plan = [graph](const WorkKey& key) { return collect(graph->view_of(key)); };
    const auto enqueue = engine.add(std::move(controller));
    for (const api::Kind* kind : api::kinds()) {
        if (!is_collected(*kind)) continue;
        engine.metadata_cache(*kind).listen(
            [graph, enqueue, kind](const api::ObjectMeta* before, const api::ObjectMeta* after) {
                if (before != nullptr && (after == nullptr || after->uid != before->uid)) {
                    const std::set<Uid> orphans = graph->dependents[before->uid];
                    const std::vector<api::OwnerReference> owners = before->owner_references;
                    graph->remove(before->uid);
                    for (const Uid& uid : orphans) {
                        if (const auto it = graph->objects.find(uid); it != graph->objects.end())
                            enqueue(it->second.key);
                    }
                    for (const api::OwnerReference& owner : owners) {
                        if (const auto it = graph->objects.find(owner.uid); it != graph->objects.end())
                            enqueue(it->second.key);
                    }
                }
                if (after == nullptr) return;
                graph->put(*kind, *after);
                if (!after->owner_references.empty() || after->is_deleting()) enqueue({kind, after->ns, after->name});
            }
        );
    }
}

void add_namespaces(kube::Engine& engine, const std::shared_ptr<Graph>& graph, std::string ca_certificate) {
    auto& namespaces = engine.cache<api::Namespace>(api::kNamespace);
    kube::Controller controller;
    controller.name = "namespace-controller";
    controller.user = {"system:serviceaccount:kube-system:namespace-controller", {"system:authenticated"}};
    controller.plan = [graph, &namespaces, ca_certificate](const WorkKey& key) {
        NamespaceView view;
        view.key = key;
        view.ca_certificate = ca_certificate;
        const api::Namespace* ns = namespaces.get("", key.name);
        if (ns == nullptr) return keep_namespace(view);
        view.ns = *ns;
        for (const Uid& uid : graph->in_namespace[key.name]) {
            const Graph::Entry& entry = graph->objects.at(uid);
            view.content.emplace_back(entry.key, entry.meta);
        }
        view.has_service_account = graph->by_key.contains({&api::kServiceAccount, key.name, "default"});
        view.has_root_ca = graph->by_key.contains({&api::kConfigMap, key.name, "kube-root-ca.crt"});
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
            if (after != nullptr) return;
            const api::Namespace* ns = namespaces.get("", before->ns);
            if (ns != nullptr && ns->metadata.is_deleting()) enqueue({&api::kNamespace, "", before->ns});
        });
    }
}

}  // namespace

void add_housekeeping(kube::Engine& engine, std::string ca_certificate) {
    const auto graph = std::make_shared<Graph>();
    engine.cache<api::Namespace>(api::kNamespace);  // by its type, before the collector takes it by its metadata
    add_collector(engine, graph);                   // first: its listeners keep the graph that the next one looks at
    add_namespaces(engine, graph, std::move(ca_certificate));
}

}  // namespace berth::solo
