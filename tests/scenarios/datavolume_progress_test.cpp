// How far an import has come, as a watcher of its DataVolume sees it.
#include <regex>

#include "placement_world.hpp"

namespace berth::sim {
namespace {

class DataVolumeProgressFlow : public PlacementWorld {
protected:
    DataVolumeProgressFlow() {
        world.machines.sources["http://images/a.raw"].takes = 20s;
        world.machines.sources["http://images/a.raw"].figures = 15;  // one each 1.25 s
    }
    void import() {
        const auto made = world.create(std::string_view(
            R"({"apiVersion":"cdi.kubevirt.io/v1beta1","kind":"DataVolume","metadata":{"name":"disk"},"spec":{)"
            R"("source":{"http":{"url":"http://images/a.raw"}},"pvc":{"storageClassName":"local-immediate",)"
            R"("accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}})"
        ));
        ASSERT_TRUE(made.has_value()) << made.error().message;
    }
    std::string progress() { return world.text(api::kDataVolume, "disk", "/status/progress"); }
    bool is_done() { return disk_phase("disk") == "Succeeded"; }
    double percent() { return std::strtod(progress().c_str(), nullptr); }

    // Every version of the DataVolume: figures in form, growing, and none sooner than a second after the one before.
    void expect_calm_and_growing() {
        world.run_for(2s);  // what watchers still have to hear
        const std::regex form(R"(N/A|\d{1,3}\.\d{1,2}%)");
        std::string before;
        double highest = 0;
        std::optional<Timestamp> changed_at;
        for (const Seen& seen : world.history()) {
            if (*seen.kind != api::kDataVolume || seen.type == "DELETED") continue;
            const std::string figure = seen.text("/status/progress");
            if (figure.empty() || figure == before) continue;
            EXPECT_TRUE(std::regex_match(figure, form)) << figure;
            EXPECT_EQ(figure == "100.0%", seen.text("/status/phase") == "Succeeded") << figure;
            if (figure != "N/A") {
                EXPECT_GT(std::strtod(figure.c_str(), nullptr), highest) << figure << " after " << before;
                highest = std::strtod(figure.c_str(), nullptr);
                if (changed_at && figure != "100.0%") {
                    EXPECT_GE(seen.at - *changed_at, 1s) << figure;
                }
                changed_at = seen.at;
            } else {
                EXPECT_EQ(highest, 0) << "a figure was taken back";
            }
            before = figure;
        }
        EXPECT_EQ(before, "100.0%");
    }
};

TEST_F(DataVolumeProgressFlow, D77_MovesWhileTheWorkerRuns) {
    import();
    ASSERT_TRUE(world.until([&] { return is_done(); }, 60s)) << disk_phase("disk");
    expect_calm_and_growing();
    EXPECT_GE(world.values(api::kDataVolume, "disk", "/status/progress").size(), 12U);
}

TEST_F(DataVolumeProgressFlow, D77_AWorkerThatStartsAgainTakesNothingBack) {
    world.machines.sources["http://images/a.raw"].fails = 1;
    import();
    ASSERT_TRUE(world.until([&] { return percent() > 40; }, 60s));
    ASSERT_TRUE(world.remove(api::kPod, "importer-disk").has_value());
    ASSERT_TRUE(world.until([&] { return is_done(); }, 180s)) << disk_phase("disk") << " " << progress();
    expect_calm_and_growing();
}

TEST_F(DataVolumeProgressFlow, D77_SurvivesARestartOfEveryRole) {
    import();
    ASSERT_TRUE(world.until([&] { return percent() > 20; }, 60s));
    const std::vector<std::string> nodes = {"n1", "n2", "n3"};
    for (const std::string& node : nodes) world.kill(node);
    world.kill("controllers");
    const double shown = percent();
    world.start("controllers");
    world.run_for(3s);
    EXPECT_EQ(percent(), shown) << "nobody reports, nothing is lost";
    for (const std::string& node : nodes) world.start(node);
    world.run_for(3s);
    EXPECT_GT(percent(), shown) << "the figure that is there is told to a node that comes back";
    ASSERT_TRUE(world.until([&] { return is_done(); }, 60s));
    expect_calm_and_growing();
}

}  // namespace
}  // namespace berth::sim
