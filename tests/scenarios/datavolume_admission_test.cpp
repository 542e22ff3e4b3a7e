// What the API server answers to a DataVolume that is wrong: at once, with the field and what to do.
#include "placement_world.hpp"

namespace berth::sim {
namespace {

class DataVolumeAdmissionFlow : public PlacementWorld {
protected:
    static std::string volume(const std::string& claim, const std::string& url = "http://images/a.raw") {
        return R"({"apiVersion":"cdi.kubevirt.io/v1beta1","kind":"DataVolume","metadata":{"name":"disk"},"spec":{)"
               R"("source":{"http":{"url":")" +
               url + R"("}},"pvc":)" + claim + "}}";
    }
    static std::string claim(const std::string& mode, const std::string& size) {
        return R"({"storageClassName":"local-immediate","accessModes":[")" + mode +
               R"("],"resources":{"requests":{"storage":")" + size + "\"}}}";
    }
    std::string refusal(const std::string& text) {
        const Result<kube::Document> made = world.create(text);
        return made ? "" : made.error().message;
    }
};

TEST_F(DataVolumeAdmissionFlow, D54_D52_EveryRefusalNamesTheField) {
    const auto says = [&](const std::string& text, const std::string& sentence) {
        const std::string got = refusal(text);
        EXPECT_NE(got.find(sentence), std::string::npos) << got;
    };
    says(
        volume(claim("ReadWriteOnce", "1Gi"), "ftp://images/a.raw"),
        "spec.source.http.url: spec.source Invalid source URL scheme: ftp://images/a.raw"
    );
    says(volume(claim("ReadWriteOnce", "1k")), "PVC size should be at least 1MiB");
    says(volume(claim("ReadWriteSometimes", "1Gi")), R"(Unsupported value: "ReadWriteSometimes": supported values: )");
    EXPECT_TRUE(is_gone(api::kDataVolume, "disk"));
    EXPECT_EQ(refusal(volume(claim("ReadWriteOnce", "1Gi"))), "");
    const auto grown =
        world.patch(api::kDataVolume, "disk", R"({"spec":{"pvc":{"resources":{"requests":{"storage":"2Gi"}}}}})");
    ASSERT_FALSE(grown.has_value());
    EXPECT_EQ(grown.error().kind, ErrorKind::invalid);
    EXPECT_NE(grown.error().message.find("Cannot update DataVolume Spec"), std::string::npos) << grown.error().message;
    const auto same = world.patch(
        api::kDataVolume,
        "disk",
        R"({"metadata":{"labels":{"a":"b"}},"spec":{"pvc":{"resources":{"requests":{"storage":"1024Mi"}}}}})"
    );
    EXPECT_TRUE(same.has_value()) << same.error().message;
}

TEST_F(DataVolumeAdmissionFlow, D38_D39_D54_AClaimOfThatNameIsThere) {
    ASSERT_TRUE(world.create(claim_text("disk", "local-immediate")).has_value());
    const std::string got = refusal(volume(claim("ReadWriteOnce", "1Gi")));
    EXPECT_NE(got.find("Destination PVC default/disk already exists"), std::string::npos) << got;
    // The gate opens what was refused a moment ago: it is read live.
    ASSERT_TRUE(
        world
            .patch(
                api::kCdi,
                "cdi",
                R"({"spec":{"config":{"featureGates":["HonorWaitForFirstConsumer","DataVolumeClaimAdoption"]}}})"
            )
            .has_value()
    );
    EXPECT_EQ(refusal(volume(claim("ReadWriteOnce", "1Gi"))), "");
    EXPECT_TRUE(world.until([&] { return disk_phase("disk") == "Succeeded"; }, 30s)) << disk_phase("disk");
    EXPECT_EQ(world.text(api::kDataVolume, "disk", "/status/progress"), "N/A");
    for (const std::string& pod : world.ever(api::kPod)) EXPECT_FALSE(pod.starts_with("importer-")) << pod;
}

}  // namespace
}  // namespace berth::sim
