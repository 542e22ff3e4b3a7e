// addvolume and removevolume on the wire: which requests are sent, in which order, and what comes of the answers.
#include "api/codec.hpp"
#include "cli/testing/server.hpp"
#include "cli/volume_wait.hpp"

namespace berth::cli {
namespace {

using testing::ServerTest;

constexpr const char* kConcurrent = "the server rejected our request due to an error in our request";

kube::Response answer(int code, const std::string& message = "") {
    kube::Response response;
    response.code = code;
    if (code < 300) return response;
    json::Object status{
        {"kind",       "Status"},
        {"apiVersion", "v1"    },
        {"code",       code    },
        {"message",    message }
    };
    response.document = std::make_shared<const json::Value>(std::move(status));
    return response;
}

class VolumeVerbs : public ServerTest {
protected:
    VolumeVerbs() {
        front().answer_puts([](const kube::Request&) { return answer(202); });
        create(R"({"apiVersion":"cdi.kubevirt.io/v1beta1","kind":"DataVolume","metadata":{"name":"dv",)"
               R"("namespace":"default"},"spec":{"source":{"blank":{}}}})");
        create(claim("c", "default"));
        create(claim("far", "kube-system"));
        front().take();
    }

    static std::string claim(const std::string& name, const std::string& ns) {
        return R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":")" + name +
               R"(","namespace":")" + ns +
               R"("},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}})";
    }

    // The PUTs since the last call: the part of the path behind the namespace, and the body.
    std::vector<std::string> puts() {
        std::vector<std::string> out;
        bodies.clear();
        for (const kube::Request& request : front().take("PUT")) {
            constexpr std::string_view kBefore = "/apis/subresources.kubevirt.io/v1/namespaces/default/";
            EXPECT_TRUE(request.path.starts_with(kBefore)) << request.path;
            out.push_back(request.path.substr(kBefore.size()));
            bodies.push_back(request.body);
        }
        return out;
    }

    json::Value body() const { return json::parse(bodies.at(0)).value(); }

    std::vector<std::string> bodies;
};

const std::string kAddToVm = "virtualmachines/db/addvolume";
const std::string kAddToVmi = "virtualmachineinstances/db/addvolume";

TEST_F(VolumeVerbs, H78_AsksNothingWhenTheLineIsIncomplete) {
    const std::vector<std::string> lines[] = {
        {"addvolume", "--volume-name=dv"},
        {"addvolume", "db"},
        {"addvolume", "db", "--volume-name=dv", "--colour=red"},
        {"addvolume", "db", "other", "--volume-name=dv"},
        {"removevolume", "--volume-name=dv"},
        {"removevolume", "db"},
        {"removevolume", "db", "--volume-name=dv", "--serial=s"},
        {"addvolume", "db", "--volume-name=dv", "--wait=soon"},
    };
    for (const std::vector<std::string>& line : lines) {
        EXPECT_EQ(run(line), kUsage);
        EXPECT_TRUE(front().take().empty());
    }
}

TEST_F(VolumeVerbs, H79_LooksForADataVolumeThenForAClaim) {
    EXPECT_EQ(run({"addvolume", "db", "--volume-name=dv"}), kOk) << err;
    EXPECT_EQ(puts(), std::vector{kAddToVm});
    EXPECT_EQ(
        body(),
        json::parse(R"({"name":"dv","disk":{"name":"dv","serial":"dv","disk":{"bus":"scsi"}},)"
                    R"("volumeSource":{"dataVolume":{"name":"dv","hotpluggable":true}}})")
            .value()
    );
    EXPECT_EQ(out, "add volume request submitted to VM db for volume dv\n");
    EXPECT_EQ(run({"addvolume", "db", "--volume-name=c"}), kOk) << err;
    EXPECT_EQ(puts(), std::vector{kAddToVm});
    EXPECT_EQ(json::text_at(body(), "/volumeSource/persistentVolumeClaim/claimName"), "c");
    EXPECT_EQ(run({"addvolume", "db", "--volume-name=nothing"}), kAbsent);
    EXPECT_NE(err.find("neither a DataVolume nor a PersistentVolumeClaim"), std::string::npos) << err;
    EXPECT_TRUE(puts().empty());
}

TEST_F(VolumeVerbs, NamesTheNamespaceThatHasTheClaim) {
    EXPECT_EQ(run({"addvolume", "db", "--volume-name=far"}), kAbsent);
    EXPECT_NE(err.find("in namespace \"kube-system\""), std::string::npos) << err;
    EXPECT_TRUE(puts().empty());
}

TEST_F(VolumeVerbs, H80_NamesDiskAndSerial) {
    EXPECT_EQ(run({"addvolume", "db", "--volume-name=dv", "--disk-name=d"}), kOk) << err;
    puts();
    EXPECT_EQ(json::text_at(body(), "/name"), "d");
    EXPECT_EQ(json::text_at(body(), "/disk/serial"), "d");
    EXPECT_EQ(json::text_at(body(), "/volumeSource/dataVolume/name"), "dv");
    EXPECT_EQ(run({"addvolume", "db", "--volume-name=dv", "--serial=s"}), kOk) << err;
    puts();
    EXPECT_EQ(json::text_at(body(), "/name"), "dv");
    EXPECT_EQ(json::text_at(body(), "/disk/serial"), "s");
    EXPECT_EQ(run({"addvolume", "db", "--volume-name=" + std::string(64, 'v')}), kUsage);
    EXPECT_NE(err.find("--disk-name"), std::string::npos) << err;
    EXPECT_TRUE(front().take().empty());
}

TEST_F(VolumeVerbs, H81_RefusesFlagsBeforeAnyPut) {
    const std::vector<std::string> flags[] = {
        {"--disk-type=lun", "--bus=virtio"},
        {"--disk-type=cdrom"},
        {"--bus=sata"},
        {"--cache=directsync"}
    };
    for (const std::vector<std::string>& more : flags) {
        std::vector<std::string> line{"addvolume", "db", "--volume-name=dv"};
        line.insert(line.end(), more.begin(), more.end());
        EXPECT_EQ(run(line), kUsage);
        EXPECT_TRUE(puts().empty());
    }
}

TEST_F(VolumeVerbs, H82_TurnsToTheInstanceOnlyWhenThereIsNoVm) {
    front().answer_puts([](const kube::Request& request) {
        const bool is_vm = request.path.find("/virtualmachines/") != std::string::npos;
        return is_vm ? answer(404, "virtualmachine.kubevirt.io \"db\" not found") : answer(202);
    });
    EXPECT_EQ(run({"addvolume", "db", "--volume-name=dv"}), kOk) << err;
    EXPECT_EQ(puts(), (std::vector{kAddToVm, kAddToVmi}));
    EXPECT_EQ(bodies.at(0), bodies.at(1));
    EXPECT_EQ(out, "add volume request submitted to VMI db for volume dv\n");
    EXPECT_EQ(run({"removevolume", "db", "--volume-name=dv"}), kOk) << err;
    EXPECT_EQ(
        puts(), (std::vector<std::string>{"virtualmachines/db/removevolume", "virtualmachineinstances/db/removevolume"})
    );

    struct Row {
        int answer;
        int code;
    };
    for (const Row& row : {
             Row{400, kFailed },
             Row{403, kFailed },
             Row{409, kRefused},
             Row{422, kFailed },
             Row{500, kFailed }
    }) {
        SCOPED_TRACE(row.answer);
        front().answer_puts([&row](const kube::Request&) { return answer(row.answer, "no"); });
        EXPECT_EQ(run({"addvolume", "db", "--volume-name=dv"}), row.code);
        EXPECT_NE(err.find("error adding volume: no"), std::string::npos) << err;
        EXPECT_EQ(puts().size(), 1U);
    }
    front().answer_puts([](const kube::Request&) { return answer(404, "not found"); });
    EXPECT_EQ(run({"removevolume", "db", "--volume-name=dv"}), kAbsent);
    EXPECT_NE(err.find("error removing volume"), std::string::npos) << err;
}

TEST_F(VolumeVerbs, H83_TriesAgainWhenOthersChangedTheMachine) {
    int left = 1;
    front().answer_puts([&left](const kube::Request&) { return left-- > 0 ? answer(422, kConcurrent) : answer(202); });
    EXPECT_EQ(run({"addvolume", "db", "--volume-name=dv"}), kOk) << err;
    EXPECT_EQ(puts().size(), 2U);
    left = 1000;
    EXPECT_EQ(run({"removevolume", "db", "--volume-name=dv"}), kRefused);
    EXPECT_EQ(puts().size(), 15U);
    EXPECT_NE(err.find("15 tries"), std::string::npos) << err;
}

TEST_F(VolumeVerbs, H84_DryRunAndPersist) {
    EXPECT_EQ(run({"addvolume", "db", "--volume-name=dv", "--dry-run"}), kOk) << err;
    puts();
    EXPECT_EQ(json::text_at(body(), "/dryRun/0"), "All");
    EXPECT_TRUE(out.starts_with("Dry run")) << out;
    EXPECT_EQ(run({"removevolume", "db", "--volume-name=dv", "--dry-run"}), kOk) << err;
    puts();
    EXPECT_EQ(body(), json::parse(R"({"name":"dv","dryRun":["All"]})").value());
    for (const char* const verb : {"addvolume", "removevolume"}) {
        EXPECT_EQ(run({verb, "db", "--volume-name=dv"}), kOk) << err;
        EXPECT_EQ(run({verb, "db", "--volume-name=dv", "--persist"}), kOk) << err;
        EXPECT_EQ(puts().size(), 2U);
        EXPECT_EQ(bodies.at(0), bodies.at(1));
    }
}

TEST_F(VolumeVerbs, SayWhatTheyDidAsJson) {
    EXPECT_EQ(run({"addvolume", "vmi/db", "--volume-name=dv", "-o", "json"}), kOk) << err;
    EXPECT_EQ(puts(), std::vector{kAddToVmi}) << "the instance is asked at once when the line names it";
    const json::Value document = json::parse(out).value();
    EXPECT_EQ(json::text_at(document, "/kind"), "VirtualMachineInstance");
    EXPECT_EQ(json::text_at(document, "/volume"), "dv");
    EXPECT_EQ(json::text_at(document, "/request"), "add");
}

// The machine of the tests below: its phases come as if controllers and a node wrote them.
std::string instance(const std::string& volumes, const std::string& entry) {
    return R"({"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"db",)"
           R"("namespace":"default"},"spec":{"domain":{"devices":{}},"volumes":[)" +
           volumes + R"(]},"status":{"phase":"Running","nodeName":"n1","volumeStatus":[)" + entry + "]}}";
}

constexpr const char* kAsked = R"({"name":"dv","dataVolume":{"name":"dv","hotpluggable":true}})";

TEST_F(VolumeVerbs, WaitForTheGuest) {
    create(instance(
        kAsked, R"({"name":"dv","phase":"Bound","target":"","hotplugVolume":{},"message":"PVC is in phase Bound"})"
    ));
    EXPECT_EQ(run({"addvolume", "vmi/db", "--volume-name=dv", "--wait=0s"}), kTimedOut);
    EXPECT_NE(err.find("the request stands"), std::string::npos) << err;

    // The guest gets it while the verb waits.
    std::thread node([this] {
        const auto own = client();
        api::Key key{&api::kVmi, "default", "db"};
        const auto step = [&](const std::string& status) {
            const auto patched = own->wait(own->api().patch(key, json::parse(status).value()));
            EXPECT_TRUE(patched.has_value()) << patched.error().message;
        };
        step(R"({"status":{"volumeStatus":[{"name":"dv","phase":"Ready","target":"sda","hotplugVolume":{},)"
             R"("message":"in the guest"}]}})");
    });
    EXPECT_EQ(run({"addvolume", "vmi/db", "--volume-name=dv", "--wait"}), kOk) << err;
    node.join();
    EXPECT_NE(out.find("volume dv is in the guest of VMI db as sda"), std::string::npos) << out;
    EXPECT_NE(err.find("Ready: in the guest"), std::string::npos) << err;
    EXPECT_EQ(run({"addvolume", "vmi/db", "--volume-name=dv", "--wait", "-o", "json"}), kOk) << err;
    EXPECT_EQ(json::text_at(json::parse(out).value(), "/target"), "sda");

    EXPECT_EQ(run({"removevolume", "vmi/db", "--volume-name=dv", "--wait=0s"}), kTimedOut);
    EXPECT_EQ(run({"removevolume", "vmi/db", "--volume-name=other", "--wait=1m"}), kOk) << err;
    EXPECT_NE(out.find("volume other is out of VMI db"), std::string::npos) << out;
}

explain::View view_of(const std::string& document) {
    explain::View view;
    view.vmi = api::decode<api::VirtualMachineInstance>(json::parse(document).value()).value();
    return view;
}

TEST(VolumeProgress, NamesThePhaseAndWhoMustAct) {
    struct Row {
        std::string volumes, entry;
        std::vector<std::string> lines;
    };
    const Row rows[] = {
        {kAsked, "",                                                                                                      {"  → pvc/dv: waits for its DataVolume"}                                      },
        {kAsked,
         R"({"name":"dv","phase":"MountedToPod","hotplugVolume":{},"message":"there"})",                                  {"MountedToPod: there", "  → guest disk: waits for the launcher to attach it"}},
        {kAsked,
         R"({"name":"dv","phase":"Ready","target":"sda","hotplugVolume":{},"message":"in the guest"})",                   {"Ready: in the guest"}                                                       },
        {"",
         R"({"name":"dv","phase":"Ready","target":"sda","reason":"DetachPending","hotplugVolume":{},"message":"waits"})",
         {"Ready: waits", "  → guest disk: waits: see in the guest what uses it, or restart the machine"}                                                                                               },
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.entry);
        EXPECT_EQ(progress(view_of(instance(row.volumes, row.entry)), "dv"), row.lines);
    }
}

}  // namespace
}  // namespace berth::cli
