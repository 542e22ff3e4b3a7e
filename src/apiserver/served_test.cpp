// Tables, schemas and events through the server, and what is there from the start.
#include "apiserver/testing.hpp"
#include "kube/api.hpp"

namespace berth::apiserver {
namespace {

constexpr const char* kMaps = "/api/v1/namespaces/t/configmaps";
constexpr const char* kTable = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

class ServedTest : public Bench {
protected:
    kube::Response with_accept(const std::string& path, const std::string& accept, const std::string& etag = "") {
        kube::Request request;
        const std::size_t mark = path.find('?');
        request.path = path.substr(0, mark);
        if (mark != std::string::npos) request.query.emplace_back("includeObject", path.substr(path.find('=') + 1));
        request.headers["accept"] = accept;
        if (!etag.empty()) request.headers["if-none-match"] = etag;
        request.user = user;
        return send(std::move(request));
    }
};

TEST_F(ServedTest, A72_Tables) {
    post(kMaps, parse(R"({"metadata":{"name":"a"},"data":{"k":"v"}})"));
    clock.advance(std::chrono::seconds(90));
    const auto table = with_accept(kMaps, kTable);
    EXPECT_EQ(text(table, "/kind"), "Table");
    EXPECT_EQ(table.headers.at("content-type"), "application/json");
    EXPECT_EQ(text(table, "/metadata/resourceVersion"), std::to_string(store->revision()));
    EXPECT_EQ(text(table, "/rows/0/cells"), R"(["a",1,"90s"])");
    EXPECT_EQ(text(table, "/columnDefinitions/2/name"), "Age");
    EXPECT_EQ(text(table, "/rows/0/object/kind"), "PartialObjectMetadata");
    EXPECT_EQ(text(with_accept(std::string(kMaps) + "?includeObject=None", kTable), "/rows/0/object"), "null");
    EXPECT_EQ(text(with_accept(std::string(kMaps) + "?includeObject=Object", kTable), "/rows/0/object/data/k"), "v");
    EXPECT_EQ(text(with_accept(std::string(kMaps) + "/a", kTable), "/kind"), "Table");
    EXPECT_EQ(text(with_accept(std::string(kMaps) + "/none", kTable), "/kind"), "Status");

    kube::Request request = watch_request(
        kMaps,
        {
            {"resourceVersion", "0"}
    }
    );
    request.headers["accept"] = kTable;
    auto stream = run(server->watch(request));
    ASSERT_TRUE(stream);
    const auto first = next_event(**stream);
    const auto second = next_event(**stream);
    EXPECT_EQ(json::text_at(*first->object, "/kind"), "Table");
    EXPECT_EQ(json::text_at(*first->object, "/rows/0/cells/0"), "a");
    EXPECT_NE(json::find(*first->object, "/columnDefinitions/0"), nullptr);
    EXPECT_EQ(json::find(*second->object, "/columnDefinitions/0"), nullptr) << "columns come once";
}

TEST_F(ServedTest, SeedsAreThereAndStayAsTheyAre) {
    for (const char* path : {
             "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/virtualmachines.kubevirt.io",
             "/apis/rbac.authorization.k8s.io/v1/clusterroles/cluster-admin",
             "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/system:discovery",
             "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical",
             "/api/v1/namespaces/default/services/kubernetes",
             "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication",
         }) {
        EXPECT_EQ(get(path).code, 200) << path;
    }
    const auto crd = get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/virtualmachines.kubevirt.io");
    EXPECT_EQ(text(crd, "/status/conditions/1/type"), "Established");
    const store::Revision before = store->revision();
    EXPECT_TRUE(run(server->seed()));
    EXPECT_EQ(store->revision(), before) << "a second start writes nothing";
}

TEST_F(ServedTest, A32_SchemasRefuseWhatTheyDoNotAllow) {
    const std::string dvs = "/apis/cdi.kubevirt.io/v1beta1/namespaces/t/datavolumes";
    const auto refused = post(dvs, parse(R"({"metadata":{"name":"d"},"spec":{"source":{"http":{"url":7}}}})"));
    EXPECT_EQ(refused.code, 422) << message(refused);
    EXPECT_EQ(text(refused, "/details/causes/0/field"), "spec.source.http.url");
    const auto pruned = post(
        dvs,
        parse(
            R"({"metadata":{"name":"d"},"spec":{"source":{"blank":{}},"storage":{"resources":{"requests":{"storage":"1Gi"}}},"odd":1}})"
        )
    );
    EXPECT_EQ(pruned.code, 201) << message(pruned);
    EXPECT_EQ(pruned.warnings, std::vector<std::string>{"unknown field \"spec.odd\""});
    EXPECT_EQ(text(pruned, "/spec/odd"), "");
    EXPECT_EQ(post(dvs, parse(R"({"metadata":{"name":"e","labels":{"a":1}}})")).code, 400);
}

TEST_F(ServedTest, EventsHaveTwoViewsAndAnHour) {
    const std::string old_events = "/api/v1/namespaces/t/events";
    const std::string new_events = "/apis/events.k8s.io/v1/namespaces/t/events";
    const auto made =
        post(old_events, parse(R"({"metadata":{"name":"e1"},"involvedObject":{"kind":"Pod","namespace":"t","name":"p"},
        "reason":"Started","message":"it runs","type":"Normal","source":{"component":"kubelet"}})"));
    EXPECT_EQ(made.code, 201) << message(made);
    const auto seen = get(new_events + "/e1");
    EXPECT_EQ(text(seen, "/apiVersion"), "events.k8s.io/v1");
    EXPECT_EQ(text(seen, "/note"), "it runs");
    EXPECT_EQ(text(seen, "/regarding/name"), "p");
    EXPECT_EQ(text(seen, "/message"), "");
    const auto incomplete =
        post(new_events, parse(R"({"metadata":{"name":"e2"},"regarding":{"kind":"Pod","namespace":"t","name":"q"}})"));
    EXPECT_EQ(incomplete.code, 422);
    const auto added = post(
        new_events,
        parse(R"({"metadata":{"name":"e2"},"regarding":{"kind":"Pod","namespace":"t","name":"q"},
        "eventTime":"2026-01-02T03:04:05.000000Z","reportingController":"c","reportingInstance":"i","action":"a","reason":"R","type":"Normal","note":"n"})"
        )
    );
    EXPECT_EQ(added.code, 201) << message(added);
    EXPECT_EQ(text(added, "/note"), "n");
    EXPECT_EQ(text(get(old_events + "/e2"), "/message"), "n");
    EXPECT_EQ(text(get(old_events + "/e2"), "/apiVersion"), "v1");
    const auto chosen = get(new_events + "?fieldSelector=regarding.name%3Dq");
    EXPECT_EQ(text(chosen, "/apiVersion"), "events.k8s.io/v1");
    EXPECT_EQ(text(chosen, "/items/0/metadata/name"), "e2");
    EXPECT_EQ(text(chosen, "/items/1"), "");
    EXPECT_EQ(text(get(old_events + "?fieldSelector=involvedObject.name%3Dp"), "/items/0/metadata/name"), "e1");
    EXPECT_EQ(text(merge_patch(new_events + "/e2", R"({"note":"m"})"), "/note"), "m");

    TaskGroup group(context.get_executor());
    group.spawn("housekeeping", server->run());
    for (int minute = 0; minute < 62; ++minute) {
        EXPECT_EQ(get(old_events + "/e1").code, 200) << minute;
        clock.advance(std::chrono::minutes(1));
        context.restart();
        context.poll();
        if (minute == 59) break;
    }
    for (int minute = 0; minute < 3; ++minute) {
        clock.advance(std::chrono::minutes(1));
        context.restart();
        context.poll();
    }
    EXPECT_EQ(get(old_events + "/e1").code, 404);
    run([](TaskGroup& running) -> Task<bool> {
        co_await running.close();
        co_return true;
    }(group));
}

TEST_F(ServedTest, ListsInProcessShareTheStoresDocuments) {
    post(kMaps, parse(R"({"metadata":{"name":"a"},"data":{"k":"v"}})"));
    kube::InProcess transport(*server);
    kube::Api api(transport, user);
    kube::ListOptions options;
    options.ns = "t";
    const auto listing = run(api.list(api::kConfigMap, options));
    ASSERT_TRUE(listing);
    ASSERT_EQ(listing->items.size(), 2u);
    EXPECT_EQ(listing->items[0].get(), &store->get({"configmaps", "t", "a"})->document) << "not a copy";
    EXPECT_EQ(listing->at.value, std::to_string(store->revision()));
    const api::Key key{&api::kConfigMap, "t", "a"};
    const auto one = run(api.get(key));
    EXPECT_EQ(one->get(), listing->items[0].get());
}

}  // namespace
}  // namespace berth::apiserver
