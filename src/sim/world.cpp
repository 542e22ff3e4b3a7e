#include "sim/world.hpp"

#include "base/check.hpp"
#include "sim/roles.hpp"

namespace berth::sim {
namespace {

const kube::User kAdmin{
    "kubernetes-admin", {"system:masters", "system:authenticated"}
};

// The kinds whose every change is remembered.
const api::Kind* const kRecorded[] = {
    &api::kVirtualMachine,
    &api::kVmi,
    &api::kDataVolume,
    &api::kClaim,
    &api::kVolume,
    &api::kPod,
    &api::kEvent,
    &api::kNode,
};

}  // namespace

struct World::Role {
    Role(Executor executor, std::unique_ptr<RoleParts> made) : parts(std::move(made)), group(std::move(executor)) {}
    std::unique_ptr<RoleParts> parts;
    TaskGroup group;  // last
};

World::World(WorldOptions options)
    : context(options.seed, options.order),
      clock(context),
      entropy(options.seed ^ 0x9e3779b97f4a7c15),
      log(options.echo),
      machines(context),
      progress(clock),
      log_store_(store::memory_log()),
      store_(context.executor(), blocking, *log_store_),
      server_(context.executor(), store_, clock, entropy, log, server_options()),
      transport_(server_),
      admin_(transport_, kAdmin),
      group_(context.executor()) {
    const Result<void> loaded = store_.load();
    CHECK(loaded.has_value());
    const Result<void> seeded = wait(server_.seed());
    CHECK(seeded.has_value());
    seed_objects(options);
    for (const api::Kind* kind : kRecorded) group_.spawn("recorder", record(*kind));
    context.settle();
    start("cluster");
    start("controllers");
    for (int i = 1; i <= options.nodes; ++i) start("n" + std::to_string(i));
    context.settle();
}

World::~World() {
    group_.cancel();
    for (const auto& [name, role] : roles_) role->group.cancel();
    for (const auto& [name, node] : nodes_) node->stop();
    context.settle();
}

void World::seed_objects(const WorldOptions& options) {
    for (int i = 1; i <= options.nodes; ++i) {
        const std::string name = "n" + std::to_string(i);
        nodes_[name] = std::make_unique<Node>(machines, name);
        const Result<kube::Document> made = create(solo::node_object(name, options.node_size, "10.0.0.1", clock.now()));
        CHECK(made.has_value());
    }
    for (json::Value& object : solo::installation_objects()) {
        const Result<kube::Document> made = create(std::move(object));
        if (!made) base::check_failed(__FILE__, __LINE__, "seed", made.error().message);
    }
}

void World::start(const std::string& role) {
    CHECK(!roles_.contains(role));
    RoleInput input{
        context.executor(), clock, entropy, log, transport_, machines, role, progress, nullptr, datavolumes_suspended_
    };
    if (const auto it = nodes_.find(role); it != nodes_.end()) input.node = it->second.get();
    for (const auto& [name, node] : nodes_) input.nodes[name] = node.get();
    auto made = std::make_unique<Role>(context.executor(), make_role(input));
    made->group.spawn(role, made->parts->run());
    roles_[role] = std::move(made);
}

void World::kill(const std::string& role) {
    const auto it = roles_.find(role);
    CHECK(it != roles_.end());
    it->second->group.cancel();
    Role* const dying = it->second.get();
    CHECK(until([&] { return dying->group.size() == 0; }, std::chrono::seconds(1)));
    roles_.erase(it);
    if (const auto node = nodes_.find(role); node != nodes_.end()) node->second->abandon_starts();
}

void World::suspend_datavolumes() {
    datavolumes_suspended_ = true;
    kill("controllers");
    start("controllers");
}

void World::resume_datavolumes() {
    datavolumes_suspended_ = false;
    kill("controllers");
    start("controllers");
}

bool World::until(const std::function<bool()>& done, Duration limit) { return context.run_until(done, limit); }

bool World::is_quiet() const {
    return std::ranges::all_of(roles_, [](const auto& role) { return role.second->parts->is_quiet(); });
}

void World::drive(Task<void> task, const std::function<bool()>& done) {
    group_.spawn("call", std::move(task));
    CHECK(context.run_until(done, std::chrono::minutes(5)));
}

Task<void> World::record(const api::Kind& kind) {
    for (;;) {
        Result<std::unique_ptr<kube::WatchStream>> stream = co_await admin_.watch(kind, {}, {});
        if (!stream) co_return;
        for (;;) {
            std::optional<kube::WatchEvent> event = co_await (*stream)->next();
            if (!event) break;
            if (event->type == "BOOKMARK" || event->type == "ERROR") continue;
            history_.push_back({&kind, event->type, event->object, clock.now()});
        }
    }
}

// Read from the committed state, not through the API: a question a test asks at every step must not move the world.
Result<kube::Document> World::get(const api::Kind& kind, const std::string& ns, const std::string& name) {
    const store::RecordPtr record = store_.get({kind.qualified(), ns, name});
    if (!record) return fail(ErrorKind::not_found, kind.qualified() + " \"" + name + "\" not found");
    return kube::Document(record, &record->document);
}

std::string World::text(const api::Kind& kind, const std::string& name, std::string_view pointer) {
    const Result<kube::Document> object = get(kind, kind.is_namespaced() ? "default" : "", name);
    return object ? std::string(json::text_at(**object, pointer)) : std::string();
}

Result<kube::Document> World::create(std::string_view json_text) {
    TRY(json::Value document, json::parse(json_text));
    return create(std::move(document));
}

Result<kube::Document> World::create(json::Value document) {
    const api::Key key = api::key_of(document);
    CHECK(key.kind != nullptr);
    if (key.kind->is_namespaced() && key.ns.empty()) json::set(document, "/metadata/namespace", json::Value("default"));
    return wait(admin_.create(std::move(document)));
}

Result<kube::Document> World::patch(
    const api::Kind& kind, const std::string& name, std::string_view merge_patch, const std::string& subresource
) {
    TRY(json::Value patch, json::parse(merge_patch));
    return wait(admin_.patch({&kind, kind.is_namespaced() ? "default" : "", name}, std::move(patch), subresource));
}

Result<void> World::remove(const api::Kind& kind, const std::string& name, kube::DeleteOptions options) {
    return wait(admin_.remove({&kind, kind.is_namespaced() ? "default" : "", name}, std::move(options)));
}

std::vector<kube::Document> World::list(const api::Kind& kind) {
    std::vector<kube::Document> out;
    for (const store::RecordPtr& record : store_.list(kind.qualified(), ""))
        out.emplace_back(record, &record->document);
    return out;
}

kube::Response World::request(kube::Request request) {
    if (request.user.name.empty()) request.user = kAdmin;
    Result<kube::Response> response = wait(transport_.request(std::move(request)));
    CHECK(response.has_value());
    return std::move(*response);
}

int World::machine_verb(const std::string& vm, const std::string& verb, std::string_view body) {
    kube::Request request;
    request.method = "PUT";
    request.path = "/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachines/" + vm + "/" + verb;
    request.body = std::string(body);
    return this->request(std::move(request)).code;
}

std::vector<std::string> World::values(const api::Kind& kind, const std::string& name, std::string_view pointer) const {
    std::vector<std::string> out;
    for (const Seen& seen : history_) {
        if (!(*seen.kind == kind) || seen.name() != name || seen.type == "DELETED") continue;
        std::string value = seen.text(pointer);
        if (!value.empty() && (out.empty() || out.back() != value)) out.push_back(std::move(value));
    }
    return out;
}

std::vector<std::string> World::ever(const api::Kind& kind) const {
    std::vector<std::string> out;
    for (const Seen& seen : history_) {
        if (*seen.kind == kind && std::ranges::find(out, seen.name()) == out.end()) out.push_back(seen.name());
    }
    return out;
}

std::vector<std::string> World::events_of(const std::string& object_name) const {
    std::vector<std::string> out;
    for (const Seen& seen : history_) {
        if (!(*seen.kind == api::kEvent) || seen.type != "ADDED" || seen.text("/involvedObject/name") != object_name)
            continue;
        out.push_back(seen.text("/reason") + ": " + seen.text("/message"));
    }
    return out;
}

Launcher* World::launcher_of(const std::string& vmi) {
    for (const kube::Document& pod : list(api::kPod)) {
        if (json::text_at(*pod, "/metadata/annotations/kubevirt.io~1domain") != vmi) continue;
        const auto it = machines.launchers.find(Uid{std::string(json::text_at(*pod, "/metadata/uid"))});
        if (it != machines.launchers.end()) return it->second;
    }
    return nullptr;
}

}  // namespace berth::sim
