// A whole solo installation in one thread: the real store, API server, engines and rules on simulated machines.
// Everything a test does goes through the API, as a user's would.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/kind.hpp"
#include "apiserver/server.hpp"
#include "controllers/progress_board.hpp"
#include "kube/engine.hpp"
#include "node/agent/launchers.hpp"
#include "sim/core/context.hpp"
#include "sim/machine/node.hpp"
#include "solo/rules/seed.hpp"
#include "store/store.hpp"

namespace berth::sim {

struct WorldOptions {
    std::uint64_t seed = 1;
    int nodes = 3;
    solo::NodeSize node_size = {MilliCpu{4000}, 8_GiB, 100_GiB};
    Order order = Order::seeded;
    bool echo = false;  ///< print log lines to standard error
};

/// One change a watcher saw.
struct Seen {
    const api::Kind* kind = nullptr;
    std::string type;  ///< ADDED, MODIFIED, DELETED
    kube::Document object;
    Timestamp at;

    [[nodiscard]] std::string name() const { return std::string(json::text_at(*object, "/metadata/name")); }
    [[nodiscard]] std::string text(std::string_view pointer) const {
        return std::string(json::text_at(*object, pointer));
    }
};

class World {
public:
    explicit World(WorldOptions options = {});
    ~World();

    // --- running ---
    void run_for(Duration span) { context.run_for(span); }
    /// False when `limit` of simulated time passed first.
    bool until(const std::function<bool()>& done, Duration limit = std::chrono::minutes(2));
    /// Nothing queued, held, failing or under way in any role.
    [[nodiscard]] bool is_quiet() const;
    /// Runs one task to its end and returns its value.
    template <class T>
    T wait(Task<T> task) {
        std::optional<T> out;
        drive(keep(std::move(task), out), [&] { return out.has_value(); });
        return std::move(*out);
    }

    // --- roles: "controllers", "cluster", "n1" … ---
    /// kill -9: the role's coroutines end where they stand; its machines' containers go on.
    void kill(const std::string& role);
    void start(const std::string& role);
    /// Takes the data volume controllers away, and back.
    void suspend_datavolumes();
    void resume_datavolumes();

    // --- the API, as a cluster administrator ---
    Result<kube::Document> get(const api::Kind& kind, const std::string& ns, const std::string& name);
    /// One field of an object; "" when the object or the field is absent.
    std::string text(const api::Kind& kind, const std::string& name, std::string_view pointer);
    /// JSON text of an object. Fails the caller's expectations by returning the error.
    Result<kube::Document> create(std::string_view json_text);
    Result<kube::Document> create(json::Value document);
    Result<kube::Document> patch(
        const api::Kind& kind,
        const std::string& name,
        std::string_view merge_patch,
        const std::string& subresource = ""
    );
    Result<void> remove(const api::Kind& kind, const std::string& name, kube::DeleteOptions options = {});
    std::vector<kube::Document> list(const api::Kind& kind);
    kube::Response request(kube::Request request);
    /// PUT …/virtualmachines/NAME/VERB; the code of the answer.
    int machine_verb(const std::string& vm, const std::string& verb, std::string_view body = "");

    // --- what was seen ---
    /// Every change since the start, in order of resource version per kind.
    [[nodiscard]] const std::vector<Seen>& history() const { return history_; }
    /// The distinct values a field had, in order; "" left out.
    [[nodiscard]] std::vector<std::string> values(
        const api::Kind& kind, const std::string& name, std::string_view pointer
    ) const;
    /// Names of objects of a kind ever seen, in order of first appearance.
    [[nodiscard]] std::vector<std::string> ever(const api::Kind& kind) const;
    /// "Reason: message" of every event about an object, in order.
    [[nodiscard]] std::vector<std::string> events_of(const std::string& object_name) const;
    Node& node(const std::string& name) { return *nodes_.at(name); }
    /// The launcher of a VMI's running pod, or nullptr.
    Launcher* launcher_of(const std::string& vmi);

    Context context;
    SimClock clock;
    SimEntropy entropy;
    InlineBlocking blocking;
    CapturedLog log;
    Machines machines;
    controllers::ProgressBoard progress;

private:
    struct Role;

    template <class T>
    static Task<void> keep(Task<T> task, std::optional<T>& out) {
        T value = co_await std::move(task);
        out.emplace(std::move(value));
    }
    void drive(Task<void> task, const std::function<bool()>& done);
    Task<void> record(const api::Kind& kind);
    void seed_objects(const WorldOptions& options);
    std::unique_ptr<Role> make(const std::string& role);

    std::unique_ptr<store::Log> log_store_;
    store::Store store_;
    apiserver::Server server_;
    kube::InProcess transport_;
    kube::Api admin_;
    std::map<std::string, std::unique_ptr<Node>> nodes_;
    std::vector<Seen> history_;
    std::map<std::string, std::unique_ptr<Role>> roles_;
    bool datavolumes_suspended_ = false;
    TaskGroup group_;  // last
};

}  // namespace berth::sim
