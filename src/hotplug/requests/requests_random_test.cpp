// Bodies that no client means: whatever comes, a request is refused with a reason or leaves lists that fit together.
#include <gtest/gtest.h>

#include <random>

#include "hotplug/admission/queue.hpp"
#include "hotplug/admission/spec.hpp"
#include "hotplug/admission/vmi_update.hpp"
#include "hotplug/lists.hpp"
#include "hotplug/requests/requests.hpp"
#include "json/json_patch.hpp"

namespace berth::hotplug {
namespace {

class Dice {
public:
    explicit Dice(unsigned seed) : engine_(seed) {}
    int below(int n) { return static_cast<int>(engine_() % static_cast<unsigned>(n)); }
    bool one_in(int n) { return below(n) == 0; }

    json::Value odd() {
        switch (below(12)) {
            case 0: return nullptr;
            case 1: return true;
            case 2: return -1;
            case 3: return 1.5;
            case 4: return "";
            case 5: return "v";
            case 6: return json::Array{};
            case 7: return json::Array{odd()};
            case 8: return json::Object{};
            case 9: {
                json::Object out;
                out["name"] = odd();
                return out;
            }
            case 10: return json::Value(std::string(300, 'x'));
            default: return json::Value(std::uint64_t(1) << 63);
        }
    }
    /// A good value, with any part of it replaced, removed or added to now and then.
    json::Value spoilt(json::Value value) {
        if (one_in(12)) return odd();
        if (json::Object* object = value.if_object()) {
            json::Object out;
            for (auto& [key, inner] : *object) {
                if (!one_in(15)) out[key] = spoilt(std::move(inner));
            }
            if (one_in(10)) out["more"] = odd();
            return out;
        }
        if (json::Array* list = value.if_array()) {
            json::Array out;
            for (json::Value& inner : *list) {
                if (one_in(8)) out.push_back(inner);
                if (!one_in(15)) out.push_back(spoilt(std::move(inner)));
            }
            return out;
        }
        return value;
    }

private:
    std::mt19937 engine_;
};

json::Value parsed(const char* text) { return *json::parse(text); }

const json::Value& good_body() {
    static const json::Value body =
        parsed(R"({"name":"v","disk":{"name":"x","disk":{"bus":"scsi","readonly":false,"pciAddress":""},"bootOrder":2,
        "serial":"s","dedicatedIOThread":false,"cache":"none","io":"native","blockSize":{"custom":{"logical":512,"physical":512}},
        "shareable":false,"errorPolicy":"stop"},"volumeSource":{"dataVolume":{"name":"d","hotpluggable":true}},"dryRun":[]})"
        );
    return body;
}
const json::Value& good_object() {
    static const json::Value object = parsed(R"({"metadata":{"name":"web","uid":"u","ownerReferences":[]},
        "spec":{"domain":{"devices":{"disks":[{"name":"root","disk":{"bus":"virtio"}},{"name":"p","disk":{"bus":"scsi"}}],"filesystems":[]}},
            "volumes":[{"name":"root","containerDisk":{"image":"i"}},{"name":"p","persistentVolumeClaim":{"claimName":"c","hotpluggable":true}}],
            "utilityVolumes":[],
            "template":{"spec":{"domain":{"devices":{"disks":[{"name":"p","disk":{"bus":"scsi"}}]}},
                "volumes":[{"name":"p","persistentVolumeClaim":{"claimName":"c","hotpluggable":true}}]}}},
        "status":{"phase":"Running","volumeStatus":[{"name":"root"},{"name":"p","hotplugVolume":{}}],"migratedVolumes":[],
            "volumeRequests":[{"addVolumeOptions":{"name":"q","disk":{"disk":{"bus":"scsi"}},"volumeSource":{"dataVolume":{"name":"q"}}}}]}})"
    );
    return object;
}

TEST(RandomRequests, AreRefusedOrFit) {
    int accepted = 0;
    std::set<int> codes;
    for (unsigned seed = 0; seed < 3'000; ++seed) {
        Dice dice(seed);
        const json::Value object = dice.one_in(2) ? good_object() : dice.spoilt(good_object());
        const json::Value other = dice.spoilt(good_object());
        RequestView view{
            .name = "web", .gates = {.legacy = dice.one_in(3), .declarative = !dice.one_in(10)}
        };
        view.target = dice.one_in(2) ? Target::machine : Target::instance;
        (view.target == Target::machine ? view.vm : view.vmi) = &object;
        if (view.target == Target::machine && dice.one_in(2)) view.vmi = &other;
        json::Value body = dice.one_in(4) ? good_body() : dice.spoilt(good_body());
        const bool is_add = dice.one_in(2);
        if (!is_add && body.is_object() && dice.one_in(2)) body.get_object()["name"] = "p";
        view.body = std::move(body);
        const Decision got = is_add ? add_volume(view) : remove_volume(view);
        codes.insert(got.code);
        ASSERT_EQ(got.code == 202, got.patch.has_value()) << "seed " << seed;
        ASSERT_TRUE(got.code == 202 || !got.message.empty() || !got.causes.empty()) << "seed " << seed;
        if (got.code != 202) continue;
        json::Value after = object;
        if (!json::apply_json_patch(after, *got.patch)) continue;  // lists without a place: refused with 422
        ++accepted;
        const std::string spec = view.target == Target::machine ? "/spec/template/spec" : "/spec";
        const bool is_queued = view.target == Target::machine && view.gates.legacy;
        const std::size_t before = list_at(object, spec + std::string(kVolumes)).size();
        const std::size_t now = list_at(after, spec + std::string(kVolumes)).size();
        if (is_queued) {
            EXPECT_EQ(before, now) << "seed " << seed;
        } else {
            EXPECT_TRUE(is_add ? now == before + 1 : now < before) << "seed " << seed;
        }
    }
    EXPECT_GT(accepted, 100);
    EXPECT_EQ(codes, (std::set<int>{202, 400, 409, 422}));
}

TEST(RandomRequests, ChecksAnswerWhateverTheyAreGiven) {
    int refused = 0;
    for (unsigned seed = 0; seed < 3'000; ++seed) {
        Dice dice(seed);
        const json::Value old = dice.one_in(2) ? good_object() : dice.spoilt(good_object());
        const json::Value now = dice.spoilt(good_object());
        const Gates gates{.declarative = dice.one_in(2), .utility = dice.one_in(2)};
        refused += check_vmi_update(now, old, gates).empty() ? 0 : 1;
        const auto causes = check_queue(now, &old, dice.one_in(2) ? &old : nullptr);
        if (!causes.empty() || !changes_queue(now, &old)) continue;
        const json::Value spec =
            with_requests(*json::find(good_object(), "/spec"), list_at(now, "/status/volumeRequests"));
        EXPECT_TRUE(json::find(spec, kVolumes)->is_array()) << "seed " << seed;
    }
    EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace berth::hotplug
