#include "placement/vmi/holder.hpp"

#include <gtest/gtest.h>

#include "placement/testing/objects.hpp"

namespace berth::placement::vmi {
namespace {

using namespace testing;

enum class Use { writes, reads, overlays };

api::VirtualMachineInstance user(const std::string& name, Timestamp made_at, Use use = Use::writes) {
    api::VirtualMachineInstance out = machine();
    out.metadata.name = name;
    out.metadata.uid = Uid{name};
    out.metadata.creation_timestamp = made_at;
    api::VmVolume volume = claim_volume("c");
    volume.persistent_volume_claim->read_only = use == Use::reads;
    if (use == Use::overlays) {
        volume.ephemeral.emplace().persistent_volume_claim = volume.persistent_volume_claim;
        volume.persistent_volume_claim.reset();
    }
    out.spec.volumes = {volume};
    return out;
}

TEST(Holder, OneMachineAtATime) {
    const api::PersistentVolumeClaim one = claim("c", "Bound");
    const api::VirtualMachineInstance older = user("a", kNow - 1s);
    const api::VirtualMachineInstance self = user("b", kNow);
    api::VirtualMachineInstance over = older;
    over.status.phase = "Succeeded";
    EXPECT_EQ(holder_of(self, one, {}), "");
    EXPECT_EQ(
        holder_of(
            self,
            one,
            {
                {&self, true}
    }
        ),
        ""
    ) << "its own pod";
    EXPECT_EQ(
        holder_of(
            self,
            one,
            {
                {&older, false}
    }
        ),
        "default/a"
    ) << "the older one starts first";
    EXPECT_EQ(
        holder_of(
            older,
            one,
            {
                {&self, false}
    }
        ),
        ""
    ) << "and it is not held up by the younger";
    EXPECT_EQ(
        holder_of(
            older,
            one,
            {
                {&self, true}
    }
        ),
        "default/b"
    ) << "unless that one has it already";
    EXPECT_EQ(
        holder_of(
            self,
            one,
            {
                {&over, false}
    }
        ),
        ""
    );
    EXPECT_EQ(
        holder_of(
            self,
            one,
            {
                {&over, true}
    }
        ),
        "default/a"
    ) << "over, and its pod still runs";
    const api::VirtualMachineInstance twin = user("a", kNow);
    EXPECT_EQ(
        holder_of(
            self,
            one,
            {
                {&twin, false}
    }
        ),
        "default/a"
    ) << "made in the same second: by name";
    EXPECT_EQ(
        holder_of(
            twin,
            one,
            {
                {&self, false}
    }
        ),
        ""
    );
}

// hotplug/R-10: of a running machine only the pods say what it has, and its spec may have dropped it.
TEST(Holder, R10_PodsThatStillMentionTheClaim) {
    const api::PersistentVolumeClaim one = claim("c", "Bound");
    const api::VirtualMachineInstance older = user("a", kNow - 1s);
    const api::VirtualMachineInstance self = user("b", kNow);
    api::VirtualMachineInstance unplugging = older;
    unplugging.spec.volumes.clear();
    const std::vector<Contender> by_pod = {
        {&unplugging, true },
        {&self,       false}
    };
    EXPECT_EQ(holder_of(self, one, by_pod), "default/a");
    const std::vector<Contender> both = {
        {&older, true},
        {&self,  true}
    };
    EXPECT_EQ(holder_of(self, one, both), "default/a");
    EXPECT_EQ(holder_of(older, one, both), "") << "one of two must go on";
    const std::vector<Contender> mine = {
        {&older, false},
        {&self,  true }
    };
    EXPECT_EQ(holder_of(self, one, mine), "") << "what it has it keeps";
}

TEST(Holder, SharedClaimsAndReaders) {
    api::PersistentVolumeClaim shared = claim("c", "Bound");
    shared.spec.access_modes = {"ReadWriteMany"};
    const api::VirtualMachineInstance older = user("a", kNow - 1s);
    const api::VirtualMachineInstance self = user("b", kNow);
    EXPECT_EQ(
        holder_of(
            self,
            shared,
            {
                {&older, true}
    }
        ),
        ""
    );
    const api::PersistentVolumeClaim one = claim("c", "Bound");
    const api::VirtualMachineInstance reader = user("r", kNow - 2s, Use::reads);
    const api::VirtualMachineInstance overlay = user("o", kNow, Use::overlays);
    EXPECT_EQ(
        holder_of(
            overlay,
            one,
            {
                {&reader, true}
    }
        ),
        ""
    ) << "nobody writes";
    EXPECT_EQ(
        holder_of(
            self,
            one,
            {
                {&overlay, true}
    }
        ),
        "default/o"
    );
    EXPECT_EQ(
        holder_of(
            overlay,
            one,
            {
                {&older, true}
    }
        ),
        "default/a"
    );
}

}  // namespace
}  // namespace berth::placement::vmi
