// Rows of claims: sizes to the byte, modes from profiles, and what to say when there is no answer.
#include "datavolume/claim/render.hpp"

#include <gtest/gtest.h>

#include "api/codec.hpp"

namespace berth::datavolume {
namespace {

RenderInput storage(std::string_view document) {
    RenderInput out;
    out.form = ClaimForm::storage;
    out.document = json::parse(document).value();
    out.spec = api::decode<api::ClaimSpec>(out.document).value();
    return out;
}

RenderInput on_local(RenderInput input) {
    api::StorageClass local;
    local.metadata.name = "local";
    local.provisioner = "local.berth.dev";
    input.storage_class = local;
    return input;
}

RenderInput on(RenderInput input, std::vector<api::ClaimPropertySet> sets) {
    api::StorageClass other;
    other.metadata.name = "other";
    other.provisioner = "example.com/disks";
    input.storage_class = other;
    input.profile = api::StorageProfile{.spec = {.claim_property_sets = std::move(sets)}};
    return input;
}

RenderInput with_overhead(RenderInput input, const char* name, std::int64_t thousandths) {
    input.settings.class_overhead[name] = Overhead{thousandths};
    return input;
}

RenderInput archive(RenderInput input) {
    input.is_archive = true;
    return input;
}

constexpr const char* kOneGi = R"({"resources":{"requests":{"storage":"1Gi"}}})";

TEST(RenderClaim, Rows) {
    const api::ClaimPropertySet block_many{{"ReadWriteMany"}, "Block"};
    const api::ClaimPropertySet fs_once{{"ReadWriteOnce"}, "Filesystem"};
    struct Row {
        const char* scenario;
        RenderInput input;
        const char* expected;
    };
    const Row rows[] = {
        {"D-24",
         on_local(storage(kOneGi)),
         R"({"resources":{"requests":{"storage":"1138166334"}},"accessModes":["ReadWriteOnce"],"volumeMode":"Filesystem","storageClassName":"local"})"
        },
        {"D-24 with 0.2",
         with_overhead(on_local(storage(kOneGi)), "local", 200),
         R"({"resources":{"requests":{"storage":"1288490189"}},"accessModes":["ReadWriteOnce"],"volumeMode":"Filesystem","storageClassName":"local"})"
        },
        {"block is not inflated",
         on_local(storage(R"({"volumeMode":"Block","resources":{"requests":{"storage":"1Gi"}}})")),
         R"({"volumeMode":"Block","resources":{"requests":{"storage":"1Gi"}},"accessModes":["ReadWriteOnce"],"storageClassName":"local"})"
        },
        {"D-42 first set",
         on(storage(kOneGi), {block_many, fs_once}),
         R"({"resources":{"requests":{"storage":"1Gi"}},"accessModes":["ReadWriteMany"],"volumeMode":"Block","storageClassName":"other"})"
        },
        {"volume mode from the access mode",
         on(storage(R"({"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Mi"}}})"),
         {block_many, fs_once}),
         R"({"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1111491"}},"volumeMode":"Filesystem","storageClassName":"other"})"
        },
        {"D-42 empty profile",
         on(storage(kOneGi), {}),
         "Spec is missing accessMode and volumeMode, cannot get access mode from StorageProfile other"},
        {"no set of that mode",
         on(storage(R"({"volumeMode":"Filesystem","resources":{"requests":{"storage":"1Gi"}}})"), {block_many}),
         "Spec is missing accessMode and cannot get access mode from StorageProfile other"},
        {"D-43", storage(kOneGi), "PVC spec is missing accessMode and no storageClass to choose profile"},
        {"V5 late",
         on_local(storage(R"({"resources":{"requests":{"storage":"1Ki"}}})")),
         "PVC Spec is not valid - storage size should be at least 1MiB"},
        {"D-11",
         archive(on_local(storage(R"({"volumeMode":"Block","resources":{"requests":{"storage":"1Gi"}}})"))),
         "ContentType Archive cannot have block volumeMode"},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.scenario);
        const auto got = render_claim(row.input);
        EXPECT_EQ(got ? json::print(*got) : got.error().message, row.expected);
    }
}

TEST(RenderClaim, E37_VolumeOfAClassThatDoesNotExistSuppliesTheModes) {
    RenderInput input = storage(R"({"storageClassName":"static","resources":{"requests":{"storage":"1Gi"}}})");
    api::PersistentVolume volume;
    volume.spec.storage_class_name = "static";
    volume.spec.capacity["storage"] = Quantity{"2Gi"};
    volume.spec.access_modes = {"ReadWriteOnce"};
    volume.spec.volume_mode = "Block";
    volume.status.phase = "Available";
    input.volumes = {volume};
    const auto got = render_claim(input);
    ASSERT_TRUE(got.has_value());
    EXPECT_EQ(json::text_at(*got, "/volumeMode"), "Block");
    EXPECT_EQ(json::text_at(*got, "/resources/requests/storage"), "1Gi");
}

TEST(ChooseClass, D43_DefaultsByRankAgeAndName) {
    const auto make = [](const char* name, const char* mark, int age) {
        api::StorageClass out;
        out.metadata.name = name;
        out.metadata.creation_timestamp = Timestamp(std::chrono::seconds(1000 - age));
        if (*mark != '\0') out.metadata.annotations[mark] = "true";
        return out;
    };
    const char* const kDefault = "storageclass.kubernetes.io/is-default-class";
    const api::StorageClass all[] = {
        make("plain", "", 0),
        make("old", kDefault, 9),
        make("b", kDefault, 1),
        make("a", kDefault, 1),
        make("virt", "storageclass.kubevirt.io/is-default-virt-class", 50),
    };
    std::vector<const api::StorageClass*> classes;
    for (const auto& one : all) classes.push_back(&one);
    EXPECT_EQ(choose_class({}, ClaimForm::storage, false, classes)->metadata.name, "virt");
    EXPECT_EQ(choose_class({}, ClaimForm::pvc, false, classes)->metadata.name, "a");
    EXPECT_EQ(choose_class({}, ClaimForm::storage, true, classes)->metadata.name, "a");
    EXPECT_EQ(choose_class("plain", ClaimForm::pvc, false, classes)->metadata.name, "plain");
    EXPECT_EQ(choose_class("none", ClaimForm::pvc, false, classes), nullptr);
}

TEST(Sizes, D18_D24_UsableAndRequired) {
    EXPECT_EQ(required_space(Overhead{60}, 1_GiB).value, 1138166334);
    EXPECT_EQ(required_space(Overhead{200}, 1_GiB).value, 1288490189);
    EXPECT_EQ(usable_space(Overhead{60}, 500_MiB).value, (471_MiB).value);
    EXPECT_EQ(usable_space(Overhead{0}, 500_MiB).value, (500_MiB).value);
    EXPECT_EQ(usable_space(Overhead{60}, required_space(Overhead{60}, 1_GiB)), 1_GiB);
    // What a claim is made for is what comes out, whatever the size.
    for (std::int64_t mib = 1; mib < 200'000; mib = mib * 3 + 1) {
        const Bytes size{mib << 20};
        EXPECT_EQ(usable_space(Overhead{60}, required_space(Overhead{60}, size)), size) << mib;
    }
    EXPECT_EQ(required_space(Overhead{60}, Bytes{(std::int64_t{1} << 60) + 1}).value, 1222096794884369286);
}

TEST(Sizes, OverheadsAsWritten) {
    for (const char* text : {"0", "1", "0.06", "0.2", "0.055", "0.005"}) {
        ASSERT_TRUE(parse_overhead(text).has_value()) << text;
        EXPECT_EQ(to_string(*parse_overhead(text)), text);
    }
    for (const char* text : {"", "2", "0.", "1.0", "-0.1", "0.0001", ".5", "0,5", "0.x"})
        EXPECT_FALSE(parse_overhead(text)) << text;
}

TEST(Settings, D31_EitherListTurnsTheGateOff) {
    const auto read = [](const char* cdi, const char* config) {
        const json::Value a = json::parse(cdi).value();
        const json::Value b = json::parse(config).value();
        return read_settings(&a, &b);
    };
    EXPECT_TRUE(read_settings(nullptr, nullptr).honors_first_consumer);
    EXPECT_TRUE(read("{}", R"({"spec":{"featureGates":["HonorWaitForFirstConsumer"]}})").honors_first_consumer);
    EXPECT_FALSE(read("{}", R"({"spec":{"featureGates":[]}})").honors_first_consumer);
    EXPECT_FALSE(
        read(R"({"spec":{"config":{"featureGates":[]}}})", R"({"spec":{"featureGates":["HonorWaitForFirstConsumer"]}})")
            .honors_first_consumer
    );
    const Settings set =
        read("{}", R"({"spec":{"filesystemOverhead":{"global":"0.1","storageClass":{"local":"0.2","bad":"x"}}}})");
    EXPECT_EQ(set.overhead_of("local").thousandths, 200);
    EXPECT_EQ(set.overhead_of("bad").thousandths, 100);
}

}  // namespace
}  // namespace berth::datavolume
