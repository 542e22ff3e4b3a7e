// Rows of single filters: resources, ports, exclusive claims, pods near and far, reservations.
#include "solo/rules/scheduler/filters.hpp"
#include "solo/rules/fixture.hpp"
#include "solo/rules/scheduler/reservation.hpp"

namespace berth::solo::scheduler {
namespace {

using namespace testing;

struct Case {
    View view;
    std::list<api::Pod> pods;

    explicit Case(api::Pod asking) {
        view.pod = std::move(asking);
        for (const char* name : {"n1", "n2", "n3"}) {
            NodeView one;
            one.node = node(name);
            one.room.name = name;
            view.nodes.push_back(std::move(one));
        }
        view.nodes[0].node.metadata.labels["zone"] = "east";
        view.nodes[1].node.metadata.labels["zone"] = "east";
        view.nodes[2].node.metadata.labels["zone"] = "west";
        view.namespaces = {
            {"default", {}             },
            {"other",   {{"team", "a"}}}
        };
    }
    Case& with(api::Pod other, std::size_t node) {
        pods.push_back(std::move(other));
        view.nodes[node].pods.push_back(&pods.back());
        return *this;
    }
    std::string refused(std::size_t node) const {
        std::string text;
        for (const std::string& reason : refusals(view, view.nodes[node])) text += (text.empty() ? "" : ", ") + reason;
        return text;
    }
};

api::Pod labelled(const std::string& name, std::map<std::string, std::string> labels) {
    api::Pod out = pod(name);
    out.metadata.labels = std::move(labels);
    return out;
}

api::PodAffinityTerm term(const std::string& key, const std::string& app) {
    return {
        .label_selector = api::LabelSelector{{{"app", app}}, {}},
          .topology_key = key
    };
}

api::Container asking(const char* name, const char* cpu, const char* restart_policy = "") {
    api::Container out;
    out.name = name;
    out.restart_policy = restart_policy;
    out.resources.requests["cpu"] = {cpu};
    return out;
}

TEST(Filters, RequestsOfPods) {
    struct Row {
        const char* scenario;
        std::vector<api::Container> inits, apps;
        std::int64_t cpu;
    };
    const Row rows[] = {
        {"4.3 sum of containers",     {},                                             {asking("a", "1"), asking("b", "500m")}, 1500},
        {"4.3 an init peak",          {asking("i", "3")},                             {asking("a", "1")},                      3000},
        {"4.3 a sidecar runs beside", {asking("s", "500m", "Always")},                {asking("a", "1")},                      1500},
        {"4.3 init after a sidecar",  {asking("s", "1", "Always"), asking("i", "2")}, {asking("a", "1")},                      3000},
        {"4.3 init before a sidecar", {asking("i", "2"), asking("s", "1", "Always")}, {asking("a", "1")},                      2000},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.scenario);
        api::Pod asked = pod("p");
        asked.spec.init_containers = row.inits;
        asked.spec.containers = row.apps;
        EXPECT_EQ(requests_of(asked)["cpu"], row.cpu);
    }
}

TEST(Filters, LimitsStandForRequests) {
    api::Pod asked = pod("p");
    asked.spec.containers[0].resources.limits = {
        {"devices.kubevirt.io/kvm", {"1"}}
    };
    Case seen(asked);
    EXPECT_EQ(seen.refused(0), "Insufficient devices.kubevirt.io/kvm");
    seen.view.nodes[0].node.status.allocatable["devices.kubevirt.io/kvm"] = {"1"};
    EXPECT_EQ(seen.refused(0), "");
    seen.with(asked, 0);
    EXPECT_EQ(seen.refused(0), "Insufficient devices.kubevirt.io/kvm") << "L-34";
}

TEST(Filters, SeveralReasonsOfOneNode) {
    Case seen(asks(pod("p"), "5", "9Gi"));
    seen.view.nodes[0].node.status.allocatable["pods"] = {"1"};
    seen.with(pod("q"), 0);
    EXPECT_EQ(seen.refused(0), "Too many pods, Insufficient cpu, Insufficient memory");
}

TEST(Filters, HostPorts) {
    const auto listening = [](const char* name, std::int64_t port, const char* ip = "") {
        api::Pod out = pod(name);
        out.spec.containers[0].ports = {
            {.container_port = port, .host_port = port, .host_ip = ip}
        };
        return out;
    };
    Case seen(listening("p", 5900));
    seen.with(listening("q", 5900), 0).with(listening("r", 5901), 1).with(listening("s", 5900, "10.0.0.1"), 2);
    EXPECT_EQ(seen.refused(0), "node(s) didn't have free ports for the requested pod ports");
    EXPECT_EQ(seen.refused(1), "");
    EXPECT_NE(seen.refused(2), "") << "any address collides with one";
}

TEST(Filters, ReadWriteOncePod) {
    Case seen(with_claim(pod("p"), "a"));
    seen.view.classes["dyn"] = storage_class("dyn", "rancher.io/local-path");
    seen.view.claims["a"] = claim("a", "dyn", "1Gi");
    seen.view.exclusive_claims = {"a"};
    EXPECT_EQ(
        seen.refused(0), "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"
    );
}

TEST(Filters, ZonesOfVolumes) {
    Case seen(with_claim(pod("p"), "a"));
    seen.view.claims["a"] = bound(claim("a", "dyn", "1Gi"), "v");
    api::PersistentVolume zoned = volume("v", "dyn", "1Gi");
    zoned.metadata.labels["topology.kubernetes.io/zone"] = "a__b";
    seen.view.volumes = {&zoned};
    seen.view.nodes[0].node.metadata.labels["topology.kubernetes.io/zone"] = "b";
    seen.view.nodes[1].node.metadata.labels["topology.kubernetes.io/zone"] = "c";
    EXPECT_EQ(seen.refused(0), "");
    EXPECT_EQ(seen.refused(1), "node(s) had no available volume zone");
}

TEST(Filters, AntiAffinityOfBothSides) {
    api::Pod lonely = labelled(
        "p",
        {
            {"app", "vm"}
    }
    );
    lonely.spec.affinity = api::Affinity{
        .pod_anti_affinity = api::PodAffinity{{term("zone", "vm")}, {}}
    };
    {
        SCOPED_TRACE("P-54 its own");
        Case seen(lonely);
        seen.with(
            labelled(
                "q",
                {
                    {"app", "vm"}
        }
            ),
            0
        );
        EXPECT_EQ(seen.refused(0), "node(s) didn't match pod anti-affinity rules");
        EXPECT_EQ(seen.refused(1), "node(s) didn't match pod anti-affinity rules") << "the same zone";
        EXPECT_EQ(seen.refused(2), "");
    }
    {
        SCOPED_TRACE("R-65 another's");
        Case seen(labelled(
            "q",
            {
                {"app", "vm"}
        }
        ));
        seen.with(lonely, 2);
        EXPECT_EQ(seen.refused(0), "");
        EXPECT_EQ(seen.refused(2), "node(s) didn't satisfy existing pods anti-affinity rules");
    }
    {
        SCOPED_TRACE("4.3 other namespaces do not count unless named");
        Case seen(lonely);
        api::Pod foreign = labelled(
            "q",
            {
                {"app", "vm"}
        }
        );
        foreign.metadata.ns = "other";
        seen.with(foreign, 0);
        EXPECT_EQ(seen.refused(0), "");
        seen.view.pod->spec.affinity->pod_anti_affinity->required[0].namespace_selector =
            api::LabelSelector{{{"team", "a"}}, {}};
        EXPECT_NE(seen.refused(0), "");
        seen.view.pod->spec.affinity->pod_anti_affinity->required[0].namespace_selector =
            api::LabelSelector{{{"team", "b"}}, {}};
        EXPECT_EQ(seen.refused(0), "");
    }
}

TEST(Filters, Affinity) {
    api::Pod friendly = labelled(
        "p",
        {
            {"app", "vm"}
    }
    );
    friendly.spec.affinity = api::Affinity{
        .pod_affinity = api::PodAffinity{{term("zone", "db")}, {}}
    };
    Case seen(friendly);
    EXPECT_EQ(seen.refused(0), "node(s) didn't match pod affinity rules");
    seen.with(
        labelled(
            "db",
            {
                {"app", "db"}
    }
        ),
        1
    );
    EXPECT_EQ(seen.refused(0), "") << "n2 is in its zone";
    EXPECT_NE(seen.refused(2), "");
    {
        SCOPED_TRACE("4.3 the first of a group goes anywhere");
        friendly.spec.affinity->pod_affinity->required = {term("zone", "vm")};
        EXPECT_EQ(Case(friendly).refused(0), "");
    }
}

TEST(Filters, TopologySpread) {
    api::Pod spread = labelled(
        "p",
        {
            {"app", "vm"}
    }
    );
    spread.spec.topology_spread_constraints = {
        {.max_skew = 1,
         .topology_key = "zone",
         .when_unsatisfiable = "DoNotSchedule",
         .label_selector = api::LabelSelector{{{"app", "vm"}}, {}}}
    };
    Case seen(spread);
    seen.with(
        labelled(
            "q",
            {
                {"app", "vm"}
    }
        ),
        0
    );
    EXPECT_EQ(seen.refused(1), "node(s) didn't match pod topology spread constraints");
    EXPECT_EQ(seen.refused(2), "");
    {
        SCOPED_TRACE("4.3 domains that the pod cannot use do not count");
        seen.view.pod->spec.node_selector = {
            {"zone", "east"}
        };
        EXPECT_EQ(seen.refused(1), "");
        seen.view.pod->spec.node_selector.clear();
    }
    seen.view.nodes[1].node.metadata.labels.erase("zone");
    EXPECT_EQ(seen.refused(1), "node(s) didn't match pod topology spread constraints (missing required label)");
    seen.view.pod->spec.topology_spread_constraints[0].when_unsatisfiable = "ScheduleAnyway";
    EXPECT_EQ(seen.refused(1), "");
}

TEST(Filters, ScoresSpreadAndBalance) {
    Case seen(asks(pod("p"), "1", "1Gi"));
    seen.with(asks(pod("q"), "2", "2Gi"), 0);
    EXPECT_GT(score(seen.view, seen.view.nodes[1]), score(seen.view, seen.view.nodes[0]));
    EXPECT_EQ(score(seen.view, seen.view.nodes[1]), score(seen.view, seen.view.nodes[2])) << "then the name decides";
}

// --- reservations ---

api::Pod of_machine(api::Pod made, const std::string& uid) {
    made.metadata.owner_references = {
        {.kind = "VirtualMachineInstance", .name = "web", .uid = {uid}, .controller = true}
    };
    return made;
}

TEST(Reservation, L36_WhoRespectsIt) {
    const api::Pod reserved = of_machine(with_claim(pod("provisioning"), "root"), "u1");
    struct Row {
        const char* scenario;
        api::Pod asking;
        bool kept;
    };
    api::Pod foreign = with_claim(pod("importer"), "root");
    foreign.metadata.ns = "other";
    const Row rows[] = {
        {"L-36 its launcher", of_machine(pod("launcher"), "u1"), false},
        {"L-36 the filler of its claim", with_claim(pod("importer"), "root"), false},
        {"L-36 a namesake's filler", foreign, true},
        {"R-23 anyone", pod("x"), true},
        {"R-65 another machine", of_machine(pod("provisioning-2"), "u2"), true},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.scenario);
        EXPECT_EQ(is_kept_from(reserved, row.asking), row.kept);
    }
}

TEST(Reservation, L36_HowLongItStands) {
    const api::Pod reserved = of_machine(pod("provisioning"), "u1");
    api::VirtualMachineInstance machine;
    machine.metadata.uid = {"u1"};
    EXPECT_TRUE(is_awaited(reserved, &machine));
    EXPECT_FALSE(is_awaited(reserved, nullptr)) << "gone";
    machine.status.phase = "Failed";
    EXPECT_FALSE(is_awaited(reserved, &machine)) << "final";
    machine.status.phase = "Pending";
    machine.metadata.deletion_timestamp = at(0);
    EXPECT_FALSE(is_awaited(reserved, &machine)) << "deleted";
    machine.metadata.deletion_timestamp.reset();
    machine.metadata.uid = {"u2"};
    EXPECT_FALSE(is_awaited(reserved, &machine)) << "R-53 another of that name";
}

}  // namespace
}  // namespace berth::solo::scheduler
