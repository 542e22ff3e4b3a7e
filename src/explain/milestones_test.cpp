// Rows: what is said about one change of one object.
#include "explain/milestones.hpp"

#include <gtest/gtest.h>

namespace berth::explain {
namespace {

TEST(Milestones, SayWhatChanged) {
    struct Row {
        const api::Kind& kind;
        std::string before;  // JSON; "" = not there
        std::string after;
        std::vector<std::string> steps;
    };
    const std::string name = R"("metadata":{"name":"db"})";
    const std::string importer = R"("metadata":{"name":"importer-db"})";
    const std::string provisioning =
        R"("metadata":{"name":"virt-launcher-db-x","annotations":{"kubevirt.io/ephemeral-provisioning":"true"}})";
    const std::string chosen = R"("metadata":{"name":"db","annotations":{"volume.kubernetes.io/selected-node":"n2"}})";
    const std::string volume =
        R"({"metadata":{"name":"pv"},"spec":{"claimRef":{"name":"db"},"nodeAffinity":{"required":)"
        R"({"nodeSelectorTerms":[{"matchExpressions":[{"values":["n1"]}]}]}}}})";
    const auto with = [](const std::string& metadata, const std::string& rest) {
        return "{" + metadata + "," + rest + "}";
    };
    const auto plug = [&](const std::string& volumes, const std::string& entry) {
        return with(
            name,
            R"("spec":{"volumes":[)" + volumes + R"(]},"status":{"phase":"Running","nodeName":"n1","volumeStatus":[)" +
                entry + "]}"
        );
    };
    const std::string asked = R"({"name":"v","dataVolume":{"name":"dv","hotpluggable":true}})";
    const auto entry = [](const std::string& rest) { return R"({"name":"v","hotplugVolume":{},)" + rest + "}"; };
    const std::string attachment = R"("metadata":{"name":"hp-volume-x","labels":{"kubevirt.io":"hotplug-disk"}})";
    const std::string trigger = R"("metadata":{"name":"hp-volume-t","labels":{"kubevirt.io":"hotplug-disk"},)"
                                R"("annotations":{"kubevirt.io/ephemeral-provisioning":"true"}})";
    const auto progress = [&](const std::string& p) {
        return with(name, R"("status":{"phase":"ImportInProgress","progress":")" + p + R"("})");
    };
    const Row rows[] = {
        {api::kVirtualMachine, "", "{" + name + "}", {"vm/db created"}},
        {api::kVirtualMachine,
         "{" + name + "}",
         with(name, R"("status":{"printableStatus":"Running"})"),
         {"vm/db is Running"}},
        {api::kVmi,
         "{" + name + "}",
         with(name, R"("status":{"phase":"Running","nodeName":"n1"})"),
         {"guest started on n1"}},
        {api::kVmi, "{" + name + "}", "", {"vmi/db is gone"}},
        {api::kDataVolume,
         "{" + name + "}",
         with(name, R"("status":{"phase":"WaitForFirstConsumer"})"),
         {"dv/db waits for the first consumer of its claim"}},
        {api::kDataVolume, "{" + name + "}", progress("N/A"), {"dv/db is being filled"}},
        {api::kDataVolume, progress("N/A"), progress("26.10%"), {"dv/db: 25% imported"}},
        {api::kDataVolume, progress("26.10%"), progress("49.90%"), {}},
        {api::kDataVolume, progress("49.90%"), progress("100.0%"), {"dv/db: 100% imported"}},
        {api::kDataVolume,
         progress("100.0%"),
         with(name, R"("status":{"phase":"Succeeded","progress":"100.0%"})"),
         {"dv/db is filled"}},
        {api::kClaim, "", "{" + name + "}", {"pvc/db created"}},
        {api::kClaim, "{" + name + "}", "{" + chosen + "}", {"node n2 chosen for pvc/db"}},
        {api::kClaim, "{" + chosen + "}", with(chosen, R"("status":{"phase":"Bound"})"), {"pvc/db bound"}},
        {api::kVolume, "", volume, {"volume made on n1 for pvc/db"}},
        {api::kVolume, volume, "", {"volume of pvc/db removed from n1"}},
        {api::kPod, "", "{" + provisioning + "}", {"provisioning pod created"}},
        {api::kPod,
         "{" + provisioning + "}",
         with(provisioning, R"("spec":{"nodeName":"n1"})"),
         {"provisioning pod placed on n1"}},
        {api::kPod, "{" + provisioning + "}", "", {"provisioning pod removed"}},
        {api::kPod,
         "{" + importer + "}",
         with(importer, R"("status":{"phase":"Succeeded"})"),
         {"worker importer-db is done"}},
        {api::kVmi, plug("", ""), plug(asked, ""), {"volume v asked for"}},
        {api::kVmi,
         plug(asked, ""),
         plug(asked, entry(R"("phase":"MountedToPod")")),
         {"volume v is in the launcher pod"}},
        {api::kVmi,
         plug(asked, entry(R"("phase":"MountedToPod")")),
         plug(asked, entry(R"("phase":"Ready","target":"sda")")),
         {"the guest has volume v as sda"}},
        {api::kVmi,
         plug(asked, entry(R"("phase":"Ready","target":"sda")")),
         plug("", entry(R"("phase":"Ready","target":"sda")")),
         {"volume v is to go"}},
        {api::kVmi,
         plug("", entry(R"("phase":"Ready","target":"sda")")),
         plug("", entry(R"("phase":"Ready","target":"sda","reason":"DetachPending")")),
         {"the guest is asked to let volume v go"}},
        {api::kVmi,
         plug("", entry(R"("phase":"Ready")")),
         plug("", entry(R"("phase":"UnMountedFromPod")")),
         {"volume v is out of the launcher pod"}},
        {api::kVmi, plug("", entry(R"("phase":"Detaching")")), plug("", ""), {"volume v is free again"}},
        {api::kVmi,
         "{" + name + "}",
         with(
             name, R"("status":{"conditions":[{"type":"LiveMigratable","status":"False","reason":"DisksNotLiveMigratable"}]})"
         ), {"vmi/db cannot be migrated live: DisksNotLiveMigratable"}},
        {api::kPod, "", "{" + attachment + "}", {"attachment pod hp-volume-x created"}},
        {api::kPod, "{" + trigger + "}", "", {"trigger pod hp-volume-t removed"}},
        {api::kPod, "", "", {}},
        {api::kNode, "", "{" + name + "}", {}},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.before + " -> " + row.after);
        std::optional<json::Value> before, after;
        if (!row.before.empty()) before = json::parse(row.before).value();
        if (!row.after.empty()) after = json::parse(row.after).value();
        EXPECT_EQ(steps_between(row.kind, before ? &*before : nullptr, after ? &*after : nullptr), row.steps);
    }
}

}  // namespace
}  // namespace berth::explain
