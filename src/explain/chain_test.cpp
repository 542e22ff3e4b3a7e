#include "explain/chain.hpp"

namespace berth::explain {
namespace {

api::VirtualMachine machine(std::string status) {
    api::VirtualMachine vm;
    vm.metadata.name = "db";
    vm.status.printable_status = std::move(status);
    vm.spec.vmi_template.emplace();
    vm.spec.vmi_template->spec.volumes.push_back(
        {.name = "root", .data_volume = api::DataVolumeVolumeSource{.name = "db-root"}}
    );
    return vm;
}

api::PersistentVolumeClaim claim(std::string phase) {
    api::PersistentVolumeClaim out;
    out.metadata.name = "db-root";
    out.status.phase = std::move(phase);
    return out;
}

api::DataVolume data_volume(std::string phase) {
    api::DataVolume out;
    out.metadata.name = "db-root";
    out.status.phase = std::move(phase);
    return out;
}

std::optional<Line> marked(const std::vector<Line>& lines, Mark mark) {
    const auto it = std::ranges::find(lines, mark, &Line::mark);
    return it == lines.end() ? std::optional<Line>() : *it;
}

TEST(Explain, WaitingDiskNamesTheScheduler) {
    View view{
        .vm = machine("WaitingForVolumeBinding"),
        .data_volumes = {data_volume("WaitForFirstConsumer")},
        .claims = {claim("Pending")}
    };
    const auto lines = chain(view);
    const auto next = marked(lines, Mark::next);
    ASSERT_TRUE(next);
    EXPECT_EQ(next->object, "pvc/db-root");
    EXPECT_EQ(next->why, "waits for the scheduler to choose a node");
}

TEST(Explain, DeletedClaimNamesThePodThatUsesIt) {
    View view{.vm = machine("Running"), .data_volumes = {data_volume("")}, .claims = {claim("Bound")}};
    view.claims.front().metadata.deletion_timestamp = view.now;
    view.claims.front().metadata.finalizers = {"kubernetes.io/pvc-protection"};
    const auto why = [&] {
        const auto lines = chain(view);
        return std::ranges::find(lines, "pvc/db-root", &Line::object)->why;
    };
    EXPECT_EQ(why(), "was deleted, and goes when nothing holds it any more: finalizers kubernetes.io/pvc-protection");
    api::Pod pod;
    pod.metadata.name = "virt-launcher-db-x";
    pod.status.phase = "Running";
    pod.spec.volumes.push_back(
        {.name = "root", .persistent_volume_claim = api::ClaimVolumeSource{.claim_name = "db-root"}}
    );
    view.pods.push_back(pod);
    EXPECT_EQ(why(), "was deleted, and goes when pod virt-launcher-db-x no longer uses it");
}

TEST(Explain, UnschedulablePodSaysWhy) {
    View view{
        .vm = machine("ErrorUnschedulable"),
        .data_volumes = {data_volume("WaitForFirstConsumer")},
        .claims = {claim("Pending")}
    };
    api::Pod pod;
    pod.metadata.name = "virt-launcher-db-x";
    pod.metadata.annotations["kubevirt.io/ephemeral-provisioning"] = "true";
    pod.status.phase = "Pending";
    pod.status.conditions.push_back(
        {.type = "PodScheduled",
         .status = "False",
         .reason = "Unschedulable",
         .message = "0/2 nodes are available: 2 Insufficient memory."}
    );
    view.pods.push_back(pod);
    const auto failed = marked(chain(view), Mark::failed);
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->why, "0/2 nodes are available: 2 Insufficient memory.");
    EXPECT_FALSE(marked(chain(view), Mark::next));
}

TEST(Explain, MissingClaimSaysWhatToDo) {
    View view{.vm = machine("ErrorPvcNotFound")};
    view.vm->spec.vmi_template->spec.volumes.front(
    ) = {.name = "root", .persistent_volume_claim = api::VmClaimSource{.claim_name = "c"}};
    const auto failed = marked(chain(view), Mark::failed);
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->object, "pvc/c");
}

TEST(Explain, EverythingDoneHasNoNext) {
    View view{.vm = machine("Running"), .data_volumes = {data_volume("Succeeded")}, .claims = {claim("Bound")}};
    const auto lines = chain(view);
    EXPECT_FALSE(marked(lines, Mark::next));
    EXPECT_FALSE(marked(lines, Mark::failed));
    EXPECT_NE(print(lines, {}).find("✓ vm/db  Running"), std::string::npos);
}

}  // namespace
}  // namespace berth::explain
