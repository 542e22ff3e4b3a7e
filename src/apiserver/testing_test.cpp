// The bodies of testing.hpp: compiled into the test program only.
#include "apiserver/testing.hpp"

#include "apiserver/route.hpp"

namespace berth::apiserver {

Bench::Bench() { reopen({}); }

void Bench::reopen(store::Limits limits) {
    server.reset();
    store.reset();
    disk = store::memory_log();
    store = std::make_unique<store::Store>(context.get_executor(), blocking, *disk, limits);
    EXPECT_TRUE(store->load());
    serve({});
    const auto seeded = run(server->seed());
    EXPECT_TRUE(seeded) << (seeded ? "" : seeded.error().message);
    post("/api/v1/namespaces", parse(R"({"metadata":{"name":"t"}})"));
}

void Bench::serve(Options options) {
    server = std::make_unique<Server>(context.get_executor(), *store, clock, entropy, log, std::move(options));
}

kube::Response Bench::send(kube::Request request) { return run(server->handle(std::move(request))); }

kube::Response Bench::call(
    const std::string& method, const std::string& path, std::optional<json::Value> body, const std::string& type
) {
    kube::Request request;
    request.method = method;
    const std::size_t mark = path.find('?');
    request.path = path.substr(0, mark);
    const std::string query = mark == std::string::npos ? "" : path.substr(mark + 1);
    for (const auto part : std::views::split(query, '&')) {
        const std::string_view one(part);
        if (one.empty()) continue;
        const std::size_t equal = one.find('=');
        request.query.emplace_back(
            *decode_segment(one.substr(0, equal)),
            equal == std::string_view::npos ? "" : *decode_segment(one.substr(equal + 1))
        );
    }
    if (body) {
        request.headers["content-type"] = type;
        request.body = json::print(*body);
    }
    request.user = user;
    return send(std::move(request));
}

kube::Response Bench::remove(const std::string& path, const std::string& options) {
    return call("DELETE", path, parse(options));
}

kube::Response Bench::merge_patch(const std::string& path, const std::string& patch) {
    return call("PATCH", path, parse(patch), "application/merge-patch+json");
}

kube::Response Bench::json_patch(const std::string& path, const std::string& patch) {
    return call("PATCH", path, parse(patch), "application/json-patch+json");
}

kube::Request Bench::watch_request(const std::string& path, std::vector<std::pair<std::string, std::string>> query)
    const {
    kube::Request request;
    request.path = path;
    request.query = std::move(query);
    request.query.emplace_back("watch", "true");
    request.user = user;
    return request;
}

std::unique_ptr<kube::WatchStream> Bench::watch(
    const std::string& path, std::vector<std::pair<std::string, std::string>> query
) {
    auto answer = run(server->watch(watch_request(path, std::move(query))));
    EXPECT_TRUE(answer);
    return answer ? *std::move(answer) : nullptr;
}

std::string Bench::next(kube::WatchStream& stream) {
    const auto event = next_event(stream);
    if (!event) return "end";
    return event->type + " " + std::string(json::text_at(*event->object, "/metadata/name"));
}

std::string Bench::text(const kube::Response& response, std::string_view pointer) {
    if (!response.document) return {};
    const json::Value* value = json::find(*response.document, pointer);
    if (value == nullptr) return {};
    return value->is_string() ? std::string(value->get_string()) : json::print(*value);
}

}  // namespace berth::apiserver
