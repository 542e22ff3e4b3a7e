// Lists, pages, selectors and watches.
#include "apiserver/testing.hpp"

namespace berth::apiserver {
namespace {

constexpr const char* kMaps = "/api/v1/namespaces/t/configmaps";

class ReadTest : public Bench {
protected:
    ReadTest() { call("DELETE", std::string(kMaps) + "/kube-root-ca.crt"); }

    void add(const std::string& name, const std::string& labels = "{}") {
        json::Value object;
        json::set(object, "/metadata/name", json::Value(name));
        json::set(object, "/metadata/labels", parse(labels));
        const auto made = post(kMaps, std::move(object));
        ASSERT_EQ(made.code, 201) << message(made);
    }
    static std::string names(const kube::Response& response) {
        std::string out;
        const json::Value* items = response.document ? json::find(*response.document, "/items") : nullptr;
        if (items == nullptr) return "no list";
        for (const json::Value& item : items->get_array())
            out += std::string(json::text_at(item, "/metadata/name")) + " ";
        return out;
    }
    std::string now() { return std::to_string(store->revision()); }
};

TEST_F(ReadTest, A64_PagesShareOneRevision) {
    for (const char* name : {"e", "b", "a", "d", "c"}) add(name);
    const auto first = get(std::string(kMaps) + "?limit=2");
    EXPECT_EQ(names(first), "a b ");
    EXPECT_EQ(text(first, "/metadata/remainingItemCount"), "3");
    add("bb");
    remove(std::string(kMaps) + "/c");
    const auto second = get(std::string(kMaps) + "?limit=2&continue=" + text(first, "/metadata/continue"));
    EXPECT_EQ(names(second), "c d ");
    EXPECT_EQ(text(second, "/metadata/remainingItemCount"), "1");
    EXPECT_EQ(text(second, "/metadata/resourceVersion"), text(first, "/metadata/resourceVersion"));
    const auto third = get(std::string(kMaps) + "?limit=2&continue=" + text(second, "/metadata/continue"));
    EXPECT_EQ(names(third), "e ");
    EXPECT_EQ(text(third, "/metadata/continue"), "");
    EXPECT_EQ(text(third, "/metadata/remainingItemCount"), "");
    EXPECT_EQ(get(std::string(kMaps) + "?resourceVersion=5&continue=" + text(first, "/metadata/continue")).code, 400);
    EXPECT_EQ(get(std::string(kMaps) + "?continue=garbage").code, 400);
    EXPECT_EQ(names(get(kMaps)), "a b bb d e ");
}

TEST_F(ReadTest, A64_ATokenOfACompactedRevisionOffersTheRest) {
    store::Limits limits;
    limits.history_events = 4;
    reopen(limits);
    for (const char* name : {"a", "b", "c"}) add(name);
    const auto first = get(std::string(kMaps) + "?limit=1");
    for (const char* name : {"v", "w", "x", "y", "z"}) add(name);
    const auto gone = get(std::string(kMaps) + "?limit=2&continue=" + text(first, "/metadata/continue"));
    EXPECT_EQ(gone.code, 410);
    EXPECT_EQ(text(gone, "/reason"), "Expired");
    EXPECT_TRUE(
        message(gone).starts_with("The provided continue parameter is too old to display a consistent list result")
    );
    EXPECT_EQ(
        names(get(std::string(kMaps) + "?limit=9&continue=" + text(gone, "/metadata/continue"))),
        "b c kube-root-ca.crt v w x y z "
    );
}

TEST_F(ReadTest, A65_VersionsOfReads) {
    add("a");
    const auto future = get(std::string(kMaps) + "?resourceVersion=99999999&resourceVersionMatch=NotOlderThan");
    EXPECT_EQ(future.code, 504);
    EXPECT_EQ(message(future), "Timeout: Too large resource version: 99999999, current: " + now());
    EXPECT_EQ(text(future, "/details/causes/0/reason"), "ResourceVersionTooLarge");
    EXPECT_EQ(future.headers.at("retry-after"), "1");
    EXPECT_EQ(get(std::string(kMaps) + "/a?resourceVersion=99999999").code, 504);
    EXPECT_EQ(get(std::string(kMaps) + "?resourceVersion=abc").code, 400);
    EXPECT_EQ(get(std::string(kMaps) + "?resourceVersionMatch=Exact").code, 422);
    EXPECT_EQ(get(std::string(kMaps) + "?resourceVersion=0&resourceVersionMatch=Exact").code, 422);
    EXPECT_EQ(get(std::string(kMaps) + "?resourceVersion=1&resourceVersionMatch=Foo").code, 422);
    EXPECT_EQ(get(std::string(kMaps) + "?limit=abc").code, 400);
    EXPECT_EQ(get(std::string(kMaps) + "?resourceVersion=0&limit=500").code, 200);
    const std::string before = now();
    add("b");
    EXPECT_EQ(names(get(std::string(kMaps) + "?resourceVersionMatch=Exact&resourceVersion=" + before)), "a ");
}

TEST_F(ReadTest, A22_A23_Selectors) {
    add("a", R"({"x":"a"})");
    add("b", R"({"x":"b","y":"1"})");
    add("c", R"({"x":"c"})");
    EXPECT_EQ(names(get(std::string(kMaps) + "?labelSelector=x%20in%20(a%2Cb)%2C!y")), "a ");
    const auto bad = get(std::string(kMaps) + "?labelSelector=x%3E");
    EXPECT_EQ(bad.code, 400);
    EXPECT_EQ(names(get(std::string(kMaps) + "?fieldSelector=metadata.name%3Db")), "b ");
    const auto unknown = get(std::string(kMaps) + "?fieldSelector=data.a%3Db");
    EXPECT_EQ(unknown.code, 400);
    EXPECT_EQ(
        message(unknown), "\"data.a\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
    );
    EXPECT_EQ(message(get("/api/v1/pods?fieldSelector=spec.foo%3D1")), "field label not supported: spec.foo");
    EXPECT_EQ(get("/api/v1/pods?fieldSelector=status.phase%3DRunning%2Cspec.nodeName%3Dn1").code, 200);
    EXPECT_EQ(
        run(server->watch(watch_request(
                "/api/v1/pods",
                {
                    {"fieldSelector", "spec.foo=1"}
    }
            )))
            .error()
            .code,
        400
    );
}

TEST_F(ReadTest, A66_WatchReplaysExactlyWhatCameAfter) {
    add("a");
    const std::string from = now();
    add("b");
    merge_patch(std::string(kMaps) + "/a", R"({"data":{"k":"v"}})");
    const auto modified = now();
    remove(std::string(kMaps) + "/b");
    auto stream = watch(
        kMaps,
        {
            {"resourceVersion", from}
    }
    );
    EXPECT_EQ(next(*stream), "ADDED b");
    const auto change = next_event(*stream);
    EXPECT_EQ(change->type, "MODIFIED");
    EXPECT_EQ(json::text_at(*change->object, "/metadata/resourceVersion"), modified);
    const auto end = next_event(*stream);
    EXPECT_EQ(end->type, "DELETED");
    EXPECT_EQ(json::text_at(*end->object, "/metadata/resourceVersion"), now());
}

TEST_F(ReadTest, A19_WatchSeesAddedModifiedDeleted) {
    auto stream = watch(
        kMaps,
        {
            {"resourceVersion", now()}
    }
    );
    add("c1");
    merge_patch(std::string(kMaps) + "/c1", R"({"metadata":{"labels":{"x":"y"}}})");
    remove(std::string(kMaps) + "/c1");
    EXPECT_EQ(next(*stream), "ADDED c1");
    EXPECT_EQ(next(*stream), "MODIFIED c1");
    EXPECT_EQ(next(*stream), "DELETED c1");
}

TEST_F(ReadTest, A20_WatchOfOneNameReplaysItFirst) {
    add("c1");
    add("c2");
    auto stream = watch(
        kMaps,
        {
            {"fieldSelector",   "metadata.name=c1"},
            {"resourceVersion", "0"               }
    }
    );
    EXPECT_EQ(next(*stream), "ADDED c1");
    merge_patch(std::string(kMaps) + "/c2", R"({"metadata":{"labels":{"q":"1"}}})");
    merge_patch(std::string(kMaps) + "/c1", R"({"metadata":{"labels":{"q":"1"}}})");
    EXPECT_EQ(next(*stream), "MODIFIED c1");
    auto legacy = watch("/api/v1/watch/namespaces/t/configmaps/c2");
    EXPECT_EQ(next(*legacy), "ADDED c2");
}

TEST_F(ReadTest, A67_SelectionsTurnChangesIntoArrivalsAndDepartures) {
    add("a");
    auto stream = watch(
        kMaps,
        {
            {"labelSelector",   "x=1"},
            {"resourceVersion", now()}
    }
    );
    add("unrelated");
    merge_patch(std::string(kMaps) + "/a", R"({"metadata":{"labels":{"x":"1"}}})");
    merge_patch(std::string(kMaps) + "/a", R"({"data":{"k":"v"},"metadata":{"labels":{"x":"2"}}})");
    remove(std::string(kMaps) + "/a");
    merge_patch(std::string(kMaps) + "/unrelated", R"({"metadata":{"labels":{"x":"1"}}})");
    EXPECT_EQ(next(*stream), "ADDED a");
    const auto left = next_event(*stream);
    EXPECT_EQ(left->type, "DELETED");
    EXPECT_EQ(json::text_at(*left->object, "/metadata/labels/x"), "1") << "as it was";
    EXPECT_EQ(json::find(*left->object, "/data"), nullptr);
    EXPECT_EQ(json::text_at(*left->object, "/metadata/resourceVersion"), std::to_string(store->revision() - 2));
    EXPECT_EQ(next(*stream), "ADDED unrelated");
}

TEST_F(ReadTest, A68_TooOldIsAnErrorEvent) {
    store::Limits limits;
    limits.history_events = 2;
    reopen(limits);
    for (const char* name : {"a", "b", "c", "d"}) add(name);
    auto stream = watch(
        kMaps,
        {
            {"resourceVersion", "1"}
    }
    );
    const auto error = next_event(*stream);
    EXPECT_EQ(error->type, "ERROR");
    EXPECT_EQ(json::integer_at(*error->object, "/code"), 410);
    EXPECT_EQ(json::text_at(*error->object, "/reason"), "Expired");
    EXPECT_TRUE(json::text_at(*error->object, "/message").starts_with("too old resource version: 1 ("));
    EXPECT_EQ(next(*stream), "end");
    kube::Request request = watch_request(kMaps, {});
    for (const char* value : {"True", "", "1", "yes"}) {
        request.query = {
            {"watch", value}
        };
        EXPECT_EQ(server->shape(request), kube::Shape::watch) << value;
    }
    for (const char* value : {"false", "0", "FALSE"}) {
        request.query = {
            {"watch", value}
        };
        EXPECT_EQ(server->shape(request), kube::Shape::unary) << value;
    }
}

TEST_F(ReadTest, A69_InitialEventsEndWithABookmark) {
    add("a");
    add("b");
    auto stream = watch(
        kMaps,
        {
            {"sendInitialEvents",    "true"        },
            {"resourceVersionMatch", "NotOlderThan"},
            {"allowWatchBookmarks",  "true"        }
    }
    );
    EXPECT_EQ(next(*stream), "ADDED a");
    EXPECT_EQ(next(*stream), "ADDED b");
    const auto mark = next_event(*stream);
    EXPECT_EQ(mark->type, "BOOKMARK");
    EXPECT_EQ(json::text_at(*mark->object, "/metadata/annotations/k8s.io~1initial-events-end"), "true");
    EXPECT_EQ(json::text_at(*mark->object, "/metadata/resourceVersion"), now());
    add("c");
    EXPECT_EQ(next(*stream), "ADDED c");
    EXPECT_EQ(
        run(server->watch(watch_request(
                kMaps,
                {
                    {"sendInitialEvents", "true"}
    }
            )))
            .error()
            .code,
        422
    );
    EXPECT_EQ(
        run(server->watch(watch_request(
                kMaps,
                {
                    {"resourceVersionMatch", "NotOlderThan"}
    }
            )))
            .error()
            .code,
        422
    );
}

TEST_F(ReadTest, A70_BookmarksWhileIdleAndACleanEnd) {
    auto stream = watch(
        kMaps,
        {
            {"allowWatchBookmarks", "true"},
            {"resourceVersion",     now() }
    }
    );
    add("a");
    EXPECT_EQ(next(*stream), "ADDED a");
    clock.advance(std::chrono::seconds(90));
    const auto mark = next_event(*stream);
    EXPECT_EQ(mark->type, "BOOKMARK");
    EXPECT_EQ(json::text_at(*mark->object, "/metadata/resourceVersion"), now());
    EXPECT_EQ(json::text_at(*mark->object, "/kind"), "ConfigMap");
    auto short_one = watch(
        kMaps,
        {
            {"timeoutSeconds",  "2"  },
            {"resourceVersion", now()}
    }
    );
    clock.advance(std::chrono::seconds(2));
    EXPECT_EQ(next(*short_one), "end");
}

TEST_F(ReadTest, AWaitingWatchWakesForItsEndAndForEvents) {
    auto stream = watch(
        kMaps,
        {
            {"timeoutSeconds",  "5"  },
            {"resourceVersion", now()}
    }
    );
    std::vector<std::string> seen;
    const auto reader = [&]() -> Task<void> {
        while (true) {
            const auto event = co_await stream->next();
            seen.push_back(event ? event->type : "end");
            if (!event) break;
        }
    };
    TaskGroup group(context.get_executor());
    group.spawn("reader", reader());
    context.restart();
    context.poll();
    EXPECT_TRUE(seen.empty());
    add("a");
    context.restart();
    context.poll();
    EXPECT_EQ(seen, std::vector<std::string>{"ADDED"});
    clock.advance(std::chrono::seconds(5));
    context.restart();
    context.poll();
    EXPECT_EQ(seen, (std::vector<std::string>{"ADDED", "end"}));
}

TEST_F(ReadTest, A72_MetadataOnly) {
    add("a");
    kube::Request request;
    request.path = kMaps;
    request.user = user;
    request.headers["accept"] = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
    const auto listed = send(request);
    EXPECT_EQ(text(listed, "/kind"), "PartialObjectMetadataList");
    EXPECT_EQ(text(listed, "/items/0/kind"), "PartialObjectMetadata");
    EXPECT_EQ(text(listed, "/items/0/metadata/name"), "a");
    request.headers["accept"] = "application/json;as=Nothing;g=meta.k8s.io;v=v1,application/json";
    EXPECT_EQ(text(send(request), "/kind"), "ConfigMapList");
}

}  // namespace
}  // namespace berth::apiserver
