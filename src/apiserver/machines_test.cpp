// The verbs of machines, consoles, logs, and the admission of kinds that are handed to the server.
#include "apiserver/testing.hpp"

namespace berth::apiserver {
namespace {

constexpr const char* kVms = "/apis/kubevirt.io/v1/namespaces/t/virtualmachines";
constexpr const char* kVmis = "/apis/kubevirt.io/v1/namespaces/t/virtualmachineinstances";
constexpr const char* kVerbs = "/apis/subresources.kubevirt.io/v1/namespaces/t/virtualmachines/a/";
constexpr const char* kVm =
    R"({"metadata":{"name":"a"},"spec":{"runStrategy":"Halted","template":{"spec":{"domain":{"devices":{}}}}}})";

SubresourceAnswer start(const SubresourceView& view) {
    if (view.vm == nullptr)
        return {.code = 404, .reason = "NotFound", .message = "virtualmachine.kubevirt.io \"a\" not found"};
    if (json::text_at(*view.vm, "/spec/runStrategy") == "Always") {
        return {.code = 409, .reason = "Conflict", .message = "VM is already running"};
    }
    json::Object set{
        {"op",    "add"              },
        {"path",  "/spec/runStrategy"},
        {"value", "Always"           }
    };
    json::Object mark{
        {"op",    "add"                          },
        {"path",  "/status"                      },
        {"value", json::Object{{"created", true}}}
    };
    SubresourceAnswer out;
    out.vm_patch = json::Value(json::Array{std::move(set), std::move(mark)});
    return out;
}

// A node whose guests say "hello" and whose containers have one line of log.
class OneNode final : public NodeStreams {
public:
    class Line final : public kube::ByteStream {
    public:
        explicit Line(std::string text) : text_(std::move(text)) {}
        Task<std::optional<std::string>> next() override { co_return std::exchange(text_, std::nullopt); }

    private:
        std::optional<std::string> text_;
    };
    class Echo final : public kube::Duplex {
    public:
        Task<std::optional<std::string>> read() override { co_return std::optional<std::string>("hello"); }
        Task<Result<void>> write(std::string) override { co_return Result<void>(); }
    };

    Task<Result<std::unique_ptr<kube::ByteStream>>> log(LogOptions options) override {
        co_return std::make_unique<Line>(options.pod + "/" + options.container);
    }
    Task<Result<std::unique_ptr<kube::Duplex>>> console(std::string, std::string) override {
        if (is_unreachable) co_return fail(ErrorKind::unavailable, "the launcher is restarting");
        co_return std::make_unique<Echo>();
    }
    bool is_unreachable = false;
};

class MachinesTest : public Bench {
protected:
    MachinesTest() {
        Options options;
        options.streams = &node;
        options.subresources[{"virtualmachines", "start"}] = start;
        options.admission[&api::kVirtualMachine] = {
            .mutate_create = [](json::Value& vm, const kube::User& who
                             ) { json::set(vm, "/metadata/annotations/made-by", json::Value(who.name)); },
            .validate =
                [](const json::Value& vm, const json::Value* old, const Surroundings&) {
                    std::vector<api::Cause> causes;
                    if (json::text_at(vm, "/spec/runStrategy") == "Bad") {
                        causes.push_back(api::not_supported("spec.runStrategy", "\"Bad\"", "\"Always\""));
                    }
                    if (old != nullptr && json::text_at(*old, "/metadata/labels/frozen") == "yes") {
                        causes.push_back(api::forbidden("spec", "the machine is frozen"));
                    }
                    return causes;
                },
        };
        serve(std::move(options));
    }
    kube::Request request(const std::string& path) const {
        kube::Request out;
        out.path = path;
        out.user = user;
        return out;
    }
    OneNode node;
};

TEST_F(MachinesTest, A47_VerbsPatchTheMachineAndAnswerNothing) {
    const auto missing = call("PUT", std::string(kVerbs) + "start");
    EXPECT_EQ(missing.code, 404);
    EXPECT_EQ(message(missing), "virtualmachine.kubevirt.io \"a\" not found");
    post(kVms, parse(kVm));
    const auto started = call("PUT", std::string(kVerbs) + "start");
    EXPECT_EQ(started.code, 202) << message(started);
    EXPECT_EQ(started.document, nullptr);
    EXPECT_EQ(started.body, "");
    EXPECT_EQ(text(get(std::string(kVms) + "/a"), "/spec/runStrategy"), "Always");
    EXPECT_EQ(text(get(std::string(kVms) + "/a"), "/status/created"), "true") << "spec and status alike";
    EXPECT_EQ(text(get(std::string(kVms) + "/a"), "/metadata/generation"), "2");
    const auto again = call("PUT", std::string(kVerbs) + "start");
    EXPECT_EQ(again.code, 409);
    EXPECT_EQ(
        message(again), "Operation cannot be fulfilled on virtualmachine.kubevirt.io \"a\": VM is already running"
    );
    EXPECT_EQ(call("PUT", std::string(kVerbs) + "fly").code, 404);
    EXPECT_EQ(text(get("/apis/subresources.kubevirt.io/v1/version"), "/gitTreeState"), "clean");
}

TEST_F(MachinesTest, H13_APatchThatAnotherWriterOvertookIsAnUnreadableRequest) {
    Options options;
    bool is_dry_run = false;
    options.subresources[{"virtualmachines", "addvolume"}] = [&is_dry_run](const SubresourceView& view) {
        SubresourceAnswer out{.is_dry_run = is_dry_run, .warnings = {"mind the gap"}};
        out.vm_patch = *view.body;
        return out;
    };
    serve(std::move(options));
    const auto made = post(kVms, parse(kVm));
    const auto send = [&](const char* patch) { return call("PUT", std::string(kVerbs) + "addvolume", parse(patch)); };
    const auto stale = send(R"([{"op":"test","path":"/spec/template/spec/volumes","value":[{"name":"other"}]},
        {"op":"add","path":"/spec/template/spec/volumes","value":[]}])");
    EXPECT_EQ(stale.code, 422);
    EXPECT_EQ(text(stale, "/reason"), "Invalid");
    EXPECT_EQ(message(stale), "the server rejected our request due to an error in our request");
    const auto version = [&] { return text(get(std::string(kVms) + "/a"), "/metadata/resourceVersion"); };
    EXPECT_EQ(version(), text(made, "/metadata/resourceVersion"));

    const char* fresh = R"([{"op":"test","path":"/spec/template/spec/volumes","value":null},
        {"op":"add","path":"/spec/template/spec/volumes","value":[]}])";
    is_dry_run = true;
    const auto tried = send(fresh);
    EXPECT_EQ(tried.code, 202) << message(tried);
    EXPECT_EQ(tried.warnings, std::vector<std::string>{"mind the gap"});
    EXPECT_EQ(version(), text(made, "/metadata/resourceVersion")) << "a dry run stores nothing";
    is_dry_run = false;
    EXPECT_EQ(send(fresh).code, 202);
    EXPECT_NE(version(), text(made, "/metadata/resourceVersion"));
}

TEST_F(MachinesTest, A47_ConsolesAreRefusedWithExactly400UntilTheyWork) {
    const auto console = request("/apis/subresources.kubevirt.io/v1/namespaces/t/virtualmachineinstances/a/console");
    EXPECT_EQ(server->shape(console), kube::Shape::duplex);
    EXPECT_EQ(run(server->connect(console)).error().code, 404);
    post(kVmis, parse(R"({"metadata":{"name":"a"},"spec":{"domain":{"devices":{}}}})"));
    EXPECT_EQ(run(server->connect(console)).error().code, 400);
    merge_patch(std::string(kVmis) + "/a", R"({"status":{"phase":"Running"}})");
    node.is_unreachable = true;
    EXPECT_EQ(run(server->connect(console)).error().code, 400);
    node.is_unreachable = false;
    auto opened = run(server->connect(console));
    ASSERT_TRUE(opened);
    EXPECT_EQ(run((*opened)->read()), "hello");
}

TEST_F(MachinesTest, A42_LogsNameTheirContainer) {
    const std::string pods = "/api/v1/namespaces/t/pods";
    post(
        pods,
        parse(R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"a","image":"i"},{"name":"b","image":"i"}]}})")
    );
    auto log = request(pods + "/p/log");
    EXPECT_EQ(server->shape(log), kube::Shape::stream);
    EXPECT_EQ(
        message(run(server->stream(log)).error()), "a container name must be specified for pod p, choose one of: [a b]"
    );
    log.query = {
        {"container", "nope"}
    };
    EXPECT_EQ(message(run(server->stream(log)).error()), "container nope is not valid for pod p");
    log.query = {
        {"container", "b"}
    };
    EXPECT_EQ(
        message(run(server->stream(log)).error()), "container \"b\" in pod \"p\" is waiting to start: ContainerCreating"
    );
    merge_patch(
        pods + "/p/status",
        R"({"status":{"containerStatuses":[{"name":"b","ready":true,"restartCount":0,"image":"i","imageID":"","state":{"running":{}}}]}})"
    );
    auto stream = run(server->stream(log));
    ASSERT_TRUE(stream) << message(stream.error());
    EXPECT_EQ(run((*stream)->next()), "p/b");
    EXPECT_EQ(run((*stream)->next()), std::nullopt);
    log.query.emplace_back("previous", "true");
    EXPECT_EQ(run(server->stream(log)).error().code, 400);
    EXPECT_EQ(run(server->stream(request(pods + "/none/log"))).error().code, 404);
}

TEST_F(MachinesTest, KindsBringTheirOwnAdmission) {
    const auto made = post(kVms, parse(kVm));
    EXPECT_EQ(text(made, "/metadata/annotations/made-by"), "admin");
    const auto refused = merge_patch(std::string(kVms) + "/a", R"({"spec":{"runStrategy":"Bad"}})");
    EXPECT_EQ(refused.code, 422);
    EXPECT_NE(
        message(refused).find(R"(spec.runStrategy: Unsupported value: "Bad": supported values: "Always")"),
        std::string::npos
    ) << message(refused);
    merge_patch(std::string(kVms) + "/a", R"({"metadata":{"labels":{"frozen":"yes"}}})");
    EXPECT_EQ(merge_patch(std::string(kVms) + "/a", R"({"spec":{"runStrategy":"Always"}})").code, 422);
}

}  // namespace
}  // namespace berth::apiserver
