// Rows of what keeps a cluster tidy: protection, garbage collection, namespaces, pods of nodes that are gone.
#include "solo/rules/housekeeping/housekeeping.hpp"

#include "solo/rules/fixture.hpp"

namespace berth::solo {
namespace {

using namespace testing;

// --- protection ---

TEST(Protection, K90_Claims) {
    const api::Pod waiting = with_claim(pod("p"), "a");
    const api::Pod scheduled = on_node(waiting, "n1");
    api::Pod ended = scheduled;
    ended.status.phase = "Succeeded";
    api::PersistentVolumeClaim alive = bound(claim("a", "local", "1Gi"), "v");
    alive.metadata.finalizers = {"kubernetes.io/pvc-protection", "x/y"};
    api::PersistentVolumeClaim deleting = alive;
    deleting.metadata.deletion_timestamp = at(0);
    const char* drop = "patch persistentvolumeclaim/default/a {\"metadata\":{\"finalizers\":[\"x/y\"]}}";
    struct Row {
        const char* scenario;
        api::PersistentVolumeClaim claim;
        std::vector<const api::Pod*> pods;
        const char* intents;
    };
    const Row rows[] = {
        {"K-90 alive",                             alive,    {},                 ""  },
        {"K-90 unused",                            deleting, {},                 drop},
        {"K-90 R-43 used",                         deleting, {&scheduled},       ""  },
        {"P-72 used by an ended pod",              deleting, {&waiting, &ended}, ""  },
        {"K-90 an unscheduled pod does not block", deleting, {&waiting},         drop},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.scenario);
        EXPECT_EQ(
            print(protect_claim({
                                    {&api::kClaim, "default", "a"},
                                    row.claim, row.pods
        })
                      .intents),
            row.intents
        );
    }
}

TEST(Protection, K91_Volumes) {
    api::PersistentVolume one = held(volume("v", "local", "1Gi"), claim("a", "local", "1Gi"));
    one.metadata.finalizers = {"kubernetes.io/pv-protection"};
    const auto intents = [&] {
        return print(protect_volume({
                                        {&api::kVolume, "", "v"},
                                        one
        })
                         .intents);
    };
    EXPECT_EQ(intents(), "");
    one.metadata.deletion_timestamp = at(0);
    EXPECT_EQ(intents(), "") << "bound";
    one.status.phase = "Released";
    EXPECT_EQ(intents(), "patch persistentvolume/v {\"metadata\":{\"finalizers\":[]}}");
}

// --- garbage collection ---

api::ObjectMeta meta(const std::string& name, std::vector<api::OwnerReference> owners = {}) {
    api::ObjectMeta out;
    out.name = name;
    out.ns = "default";
    out.uid = {"uid-" + name};
    out.resource_version = {"3"};
    out.owner_references = std::move(owners);
    return out;
}

api::OwnerReference owner(const char* name, bool is_controller = true) {
    return {
        .api_version = "kubevirt.io/v1",
        .kind = "VirtualMachine",
        .name = name,
        .uid = {std::string("uid-") + name},
        .controller = is_controller,
        .block_owner_deletion = is_controller
    };
}

api::ObjectMeta ending(api::ObjectMeta object, std::vector<std::string> finalizers) {
    object.deletion_timestamp = at(0);
    object.finalizers = std::move(finalizers);
    return object;
}

TEST(Garbage, K96_Rows) {
    const api::Key pod_key{&api::kPod, "default", "p"};
    const api::Key vm_key{&api::kVirtualMachine, "default", "vm"};
    const Dependent child{pod_key, meta("p", {owner("vm")}), false, false};
    const Dependent parent{pod_key, meta("p", {owner("vm")}), false, true};
    const Dependent loose{pod_key, meta("p", {owner("vm", false)}), false, false};
    const Dependent shared{pod_key, meta("p", {owner("vm"), owner("other", false)}), true, false};
    const Dependent going{pod_key, ending(meta("p", {owner("vm")}), {"x/y"}), false, false};
    const char* forget = "patch pod/default/p {\"metadata\":{\"ownerReferences\":[]}}";
    const char* keep_other =
        "patch pod/default/p "
        "{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"kubevirt.io/"
        "v1\",\"kind\":\"VirtualMachine\",\"name\":\"other\",\"uid\":\"uid-other\"}]}}";
    const std::string release = "patch virtualmachine/default/vm {\"metadata\":{\"finalizers\":[\"a/b\"]}}";
    struct Row {
        const char* scenario;
        GarbageView view;
        const char* rule;
        std::string intents;
    };
    const Row rows[] = {
        {"K-96 owned",                      {pod_key, meta("p", {owner("vm")}), {Owner::present}, {}},    "owned", ""                                },
        {"K-96 nobody's",                   {pod_key, meta("p"), {}, {}},                                 "owned", ""                                },
        {"K-96 the API is asked first",
         {pod_key, meta("p", {owner("vm")}), {Owner::unfound}, {}},
         "owners-are-looked-for",                                                                                  "look for owners pod/default/p"   },
        {"K-96 R-53 owner gone",
         {pod_key, meta("p", {owner("vm")}), {Owner::absent}, {}},
         "nobody-owns-it-any-more",                                                                                "delete pod/default/p"            },
        {"K-96 another owner lives",
         {pod_key, meta("p", {owner("vm"), owner("other", false)}), {Owner::absent, Owner::present}, {}},
         "one-of-its-owners-is-gone",                                                                              keep_other                        },
        {"K-96 deleting already",
         {pod_key, ending(meta("p", {owner("vm")}), {"x/y"}), {Owner::absent}, {}},
         "deleted-already",                                                                                        ""                                },
        {"R-41 P-35 foreground",
         {vm_key, ending(meta("vm"), {"foregroundDeletion", "a/b"}), {}, {child}},
         "foreground-owner-waits-for-dependents",                                                                  "delete pod/default/p"            },
        {"R-41 waits for those that block",
         {vm_key, ending(meta("vm"), {"foregroundDeletion", "a/b"}), {}, {going}},
         "foreground-owner-waits-for-dependents",                                                                  ""                                },
        {"R-41 not for the others",
         {vm_key, ending(meta("vm"), {"foregroundDeletion", "a/b"}), {}, {loose}},
         "foreground-owner-waits-for-dependents",                                                                  "delete pod/default/p\n" + release},
        {"R-41 shared dependents live",
         {vm_key, ending(meta("vm"), {"foregroundDeletion", "a/b"}), {}, {shared}},
         "foreground-owner-waits-for-dependents",                                                                  keep_other + ("\n" + release)     },
        {"R-41 and then it goes",
         {vm_key, ending(meta("vm"), {"foregroundDeletion", "a/b"}), {}, {}},
         "foreground-owner-waits-for-dependents",                                                                  release                           },
        {"R-42 P-34 orphan",
         {vm_key, ending(meta("vm"), {"orphan", "a/b"}), {}, {child}},
         "orphaning-owner-lets-dependents-live",                                                                   forget + ("\n" + release)         },
        {"K-96 gone",                       {vm_key, {}, {}, {}},                                         "gone",  ""                                },
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.scenario);
        const api::Plan plan = collect(row.view);
        EXPECT_EQ(plan.rule, row.rule);
        EXPECT_EQ(print(plan.intents), row.intents);
    }
    const GarbageView deep{vm_key, ending(meta("vm"), {"foregroundDeletion"}), {}, {parent}};
    EXPECT_EQ(std::get<api::Delete>(collect(deep).intents[0]).propagation, "Foreground")
        << "those that own others go the same way";
}

// --- namespaces ---

TEST(Namespaces, A34_A35_Rows) {
    NamespaceView view;
    view.key = {&api::kNamespace, "", "t"};
    view.ns = api::Namespace{};
    view.ns->metadata.name = "t";
    view.ca_certificate = "PEM";
    view.now = at(0);
    EXPECT_EQ(
        print(keep_namespace(view).intents), "create serviceaccount/t/default\ncreate configmap/t/kube-root-ca.crt"
    );
    view.has_service_account = view.has_root_ca = true;
    EXPECT_EQ(print(keep_namespace(view).intents), "");

    view.ns->metadata.deletion_timestamp = at(0);
    EXPECT_EQ(print(keep_namespace(view).intents), "finalize namespace t") << "A-34";
    view.content = {
        {{&api::kConfigMap, "t", "z"}, meta("z")}
    };
    EXPECT_EQ(print(keep_namespace(view).intents), "delete configmap/t/z");
    view.content[0].second = ending(meta("z"), {"x/y"});
    const api::Plan plan = keep_namespace(view);
    EXPECT_EQ(plan.rule, "what-stays-is-named");
    ASSERT_EQ(plan.intents.size(), 1U);
    const json::Value& status = std::get<api::Patch>(plan.intents[0]).patch;
    EXPECT_EQ(json::text_at(status, "/status/conditions/4/type"), "NamespaceFinalizersRemaining") << "A-35";
    EXPECT_EQ(
        json::text_at(status, "/status/conditions/4/message"),
        "Some content in the namespace has finalizers remaining: x/y in 1 resource instances"
    );
    EXPECT_EQ(
        json::text_at(status, "/status/conditions/3/message"),
        "Some resources are remaining: configmaps. has 1 resource instances"
    );
    view.ns->status = *json::find(status, "/status");
    EXPECT_EQ(print(keep_namespace(view).intents), "") << "said once";
    EXPECT_EQ(keep_namespace(view).wait->why, "1 objects in it are being deleted");
}

// --- pods of nodes that are gone ---

TEST(PodCollector, K93_Rows) {
    const api::Pod stranded = on_node(pod("p"), "n1");
    struct Row {
        const char* scenario;
        StrandedPodView view;
        const char* intents;
    };
    const Row rows[] = {
        {"K-93 its node is there", {{}, stranded, true, {}, false, at(100)},      ""                            },
        {"K-93 no node yet",       {{}, pod("p"), false, {}, false, at(100)},     ""                            },
        {"K-93 may come back",     {{}, stranded, false, at(90), true, at(100)},  ""                            },
        {"K-93 asks first",        {{}, stranded, false, at(60), false, at(100)}, "look for node n1"            },
        {"K-93 R-28 gone",         {{}, stranded, false, at(60), true, at(100)},  "delete pod/default/p grace 0"},
    };
    for (Row row : rows) {
        SCOPED_TRACE(row.scenario);
        row.view.key = {&api::kPod, "default", "p"};
        EXPECT_EQ(print(collect_pod(row.view).intents), row.intents);
    }
}

}  // namespace
}  // namespace berth::solo
