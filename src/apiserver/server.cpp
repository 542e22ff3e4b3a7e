// From a request to the operation that answers it. Everything that is decided here is which file goes on.
#include "apiserver/server.hpp"

#include "apiserver/bind.hpp"
#include "apiserver/crds.hpp"
#include "apiserver/discovery.hpp"
#include "apiserver/expiry.hpp"
#include "apiserver/logs.hpp"
#include "apiserver/machines.hpp"
#include "apiserver/present.hpp"
#include "apiserver/read.hpp"
#include "apiserver/reviews.hpp"
#include "apiserver/seed.hpp"
#include "apiserver/watching.hpp"
#include "apiserver/write.hpp"
#include "base/ranges.hpp"

namespace berth::apiserver {
namespace {

Outcome<Verb> verb_of(const kube::Request& request, const Target& target) {
    const bool is_one = !target.name.empty();
    if (target.is_legacy_watch && request.method == "GET") return Verb::watch;
    if (request.method == "GET") return is_one ? Verb::get : flag(request, "watch") ? Verb::watch : Verb::list;
    if (request.method == "POST") return Verb::create;
    if (request.method == "PUT" && is_one) return Verb::update;
    if (request.method == "PATCH" && is_one) return Verb::patch;
    if (request.method == "DELETE") return is_one ? Verb::remove : Verb::remove_all;
    return refuse(method_not_allowed());
}

// Routing, authorization and the options that every operation shares.
Outcome<Call> read_call(kube::Request request) {
    Call call;
    auto target = route(request.path);
    if (target) call.target = *std::move(target);
    call.request = std::move(request);
    const auto verb = target ? verb_of(call.request, call.target) : Outcome<Verb>(Verb::get);
    if (verb) call.verb = *verb;
    if (auto refusal = authorize(call)) return refuse(*std::move(refusal));
    if (!target) return refuse(std::move(target).error());
    if (!verb) return refuse(verb.error());
    // Discovery and OpenAPI have forms of their own, named in Accept too.
    if (call.target.area != Area::discovery && call.target.area != Area::openapi) {
        TRY(call.presentation, negotiate(call.request));
    }
    TRY(call.write, write_options(call.request));
    if (call.target.kind != nullptr && call.target.version != call.target.kind->version) {
        call.warnings.push_back(deprecation_warning(*call.target.kind, call.target.version));
    }
    return call;
}

bool writes_collection_of_all(const Call& call) {
    const bool is_write = call.verb == Verb::create || call.verb == Verb::remove_all;
    return is_write && call.target.name.empty() && call.kind().is_namespaced() && call.target.ns.empty();
}

kube::Response version_answer(const Options& options) {
    return answer(json::Value(json::Object{
        {"major",        "1"                   },
        {"minor",        "32"                  },
        {"gitVersion",   options.git_version   },
        {"gitCommit",    ""                    },
        {"gitTreeState", "clean"               },
        {"buildDate",    "1970-01-01T00:00:00Z"},
        {"goVersion",    ""                    },
        {"compiler",     "clang"               },
        {"platform",     "linux/amd64"         },
    }));
}

kube::Response health_answer(const Call& call) {
    if (!flag(call.request, "verbose")) return plain_text(200, "ok");
    return plain_text(200, "[+]ping ok\n[+]store ok\n" + call.target.resource + " check passed\n");
}

Task<kube::Response> handle_subresource(Core& core, Call call) {
    const std::string& part = call.target.subresource;
    const bool is_pod = call.kind() == api::kPod;
    if (is_pod && call.verb == Verb::create && part == "binding") co_return co_await bind(core, std::move(call));
    if (is_pod && call.verb == Verb::create && part == "eviction") co_return co_await evict(core, std::move(call));
    constexpr std::string_view kStreams[] = {"exec", "attach", "portforward"};
    if (is_pod && contains(kStreams, part))
        co_return not_implemented("pods/" + part + " is not offered by this server");
    if (call.kind() == api::kServiceAccount && part == "token") {
        co_return not_implemented("serviceaccounts/token is not offered by this server; use its client certificate");
    }
    const bool is_known =
        (part == "status" && call.kind().has_status) || (part == "finalize" && call.kind() == api::kNamespace);
    if (!is_known || call.verb == Verb::create) co_return no_such_resource();
    if (call.verb == Verb::get) co_return co_await get(core, std::move(call));
    if (call.verb == Verb::update) co_return co_await update(core, std::move(call));
    if (call.verb == Verb::patch) co_return co_await patch(core, std::move(call));
    co_return method_not_allowed();
}

Task<kube::Response> handle_resource(Core& core, Call call) {
    if (writes_collection_of_all(call)) co_return method_not_allowed();
    if (!call.target.subresource.empty()) co_return co_await handle_subresource(core, std::move(call));
    switch (call.verb) {
        case Verb::get: co_return co_await get(core, std::move(call));
        case Verb::list: co_return co_await list(core, std::move(call));
        case Verb::create:
            if (!call.target.name.empty()) co_return method_not_allowed();
            co_return co_await create(core, std::move(call));
        case Verb::update: co_return co_await update(core, std::move(call));
        case Verb::patch: co_return co_await patch(core, std::move(call));
        case Verb::remove: co_return co_await remove(core, std::move(call));
        case Verb::remove_all: co_return co_await remove_all(core, std::move(call));
        case Verb::watch: break;
    }
    co_return bad_request("a watch is a stream; this request was not opened as one");
}

kube::Response discovery_answer(const Call& call) {
    if (call.request.method != "GET") return method_not_allowed();
    auto found = discover(call.request.path, call.request.header("accept"));
    if (!found) return no_such_path();
    kube::Response response = answer(std::move(found->body));
    response.headers["content-type"] = found->content_type;
    response.headers["vary"] = "Accept";
    if (found->etag.empty()) return response;
    response.headers["etag"] = found->etag;
    response.headers["cache-control"] = "public";
    if (call.request.header("if-none-match") != found->etag) return response;
    response.code = 304;
    response.document = nullptr;
    return response;
}

kube::Response openapi_answer(Core& core, const Call& call) {
    if (call.request.method != "GET") return method_not_allowed();
    OpenApiAnswer found =
        core.openapi.answer(call.target.name, call.request.parameter("hash").value_or(""), core.clock.now());
    kube::Response response;
    response.code = found.code;
    response.headers = std::move(found.headers);
    response.body = std::move(found.body);
    return response;
}

kube::Response metrics_answer(const Core& core) {
    return plain_text(
        200,
        "# TYPE berth_store_objects gauge\nberth_store_objects " + std::to_string(core.store.object_count()) +
            "\n# TYPE berth_store_revision counter\nberth_store_revision " + std::to_string(core.store.revision()) +
            "\n"
    );
}

Task<kube::Response> handle_area(Core& core, Call call) {
    switch (call.target.area) {
        case Area::resource: co_return co_await handle_resource(core, std::move(call));
        case Area::review: co_return review(call);
        case Area::version: co_return version_answer(core.options);
        case Area::health: co_return health_answer(call);
        case Area::machine: co_return co_await handle_machine(core, std::move(call));
        case Area::discovery: co_return discovery_answer(call);
        case Area::openapi: co_return openapi_answer(core, call);
        case Area::metrics: co_return metrics_answer(core);
    }
    co_return no_such_path();
}

}  // namespace

store::ObjectKey key_for(const api::Kind& kind, const std::string& ns, const std::string& name) {
    return {kind.qualified(), kind.is_namespaced() ? ns : std::string(), name};
}

kube::Response answer(const store::RecordPtr& record, int code) {
    return answer(std::shared_ptr<const json::Value>(record, &record->document), code);
}

kube::Response refusal_of(const Error& error, const api::Kind& kind, const std::string& name) {
    switch (error.kind) {
        case ErrorKind::not_found: return not_found(kind, name);
        case ErrorKind::already_exists: return already_exists(kind, name);
        case ErrorKind::conflict: return conflict(kind, name, "");
        case ErrorKind::unavailable: return unavailable(error.message);
        default: return internal_error("the change could not be stored: " + error.message);
    }
}

struct Server::State {
    Core core;
};

Server::Server(Executor executor, store::Store& store, Clock& clock, Entropy& entropy, Log& log, Options options)
    : state_(std::make_unique<State>(Core{std::move(executor), store, clock, entropy, log, std::move(options)})) {}

Server::~Server() = default;

Task<Result<void>> Server::seed() { return seed_all(state_->core); }

Task<void> Server::run() {
    while (true) {
        co_await state_->core.clock.sleep_for(std::chrono::minutes(1));
        co_await expire_events(state_->core);
    }
}

kube::Shape Server::shape(const kube::Request& request) const {
    const auto target = route(request.path);
    if (!target || request.method != "GET") return kube::Shape::unary;
    if (target->area == Area::machine && target->subresource == "console") return kube::Shape::duplex;
    if (target->area != Area::resource) return kube::Shape::unary;
    if (*target->kind == api::kPod && target->subresource == "log") return kube::Shape::stream;
    const auto verb = verb_of(request, *target);
    return verb && *verb == Verb::watch ? kube::Shape::watch : kube::Shape::unary;
}

Task<kube::Response> Server::handle(kube::Request request) {
    Outcome<Call> call = read_call(std::move(request));
    if (!call) co_return std::move(call).error();
    const Presenter presenter(state_->core, *call);
    const std::vector<std::string> warnings = call->warnings;
    kube::Response response = co_await handle_area(state_->core, *std::move(call));
    presenter.finish(response);
    if (response.warnings.empty()) response.warnings = warnings;
    co_return response;
}

Task<kube::Answer<kube::WatchStream>> Server::watch(kube::Request request) {
    Outcome<Call> call = read_call(std::move(request));
    if (!call) co_return refuse(std::move(call).error());
    if (call->target.area != Area::resource || call->verb != Verb::watch) co_return refuse(method_not_allowed());
    co_return open_watch(state_->core, *call);
}

Task<kube::Answer<kube::ByteStream>> Server::stream(kube::Request request) {
    Outcome<Call> call = read_call(std::move(request));
    if (!call) co_return refuse(std::move(call).error());
    if (call->target.subresource != "log") co_return refuse(no_such_resource());
    co_return co_await open_log(state_->core, *std::move(call));
}

Task<kube::Answer<kube::Duplex>> Server::connect(kube::Request request) {
    Outcome<Call> call = read_call(std::move(request));
    if (!call) co_return refuse(std::move(call).error());
    if (call->target.subresource != "console") co_return refuse(no_such_resource());
    co_return co_await open_console(state_->core, *std::move(call));
}

}  // namespace berth::apiserver
