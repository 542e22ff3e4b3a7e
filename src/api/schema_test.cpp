// The schemas that descriptions give.
#include "api/cdi.hpp"
#include "api/codec.hpp"
#include "api/kubevirt.hpp"

namespace berth::api {
namespace {

TEST(Schema, EveryFieldOfASpecIsExplained) {
    const auto walk = [](const auto& self, const json::Value& schema, const std::string& path) -> void {
        const json::Value* properties = json::find(schema, "/properties");
        if (properties != nullptr) {
            for (const auto& [key, inner] : properties->get_object()) {
                const std::string place = path + "." + std::string(key);
                if (path.find("metadata") == std::string::npos && path.find("status") == std::string::npos) {
                    EXPECT_NE(json::text_at(inner, "/description"), "") << place;
                }
                self(self, inner, place);
            }
        }
        for (const char* part : {"/items", "/additionalProperties"}) {
            if (const json::Value* inner = json::find(schema, part)) self(self, *inner, path + "[]");
        }
    };
    walk(walk, schema<VirtualMachine>(), "vm");
    walk(walk, schema<VirtualMachineInstance>(), "vmi");
    walk(walk, schema<DataVolume>(), "dv");
    walk(walk, schema<StorageProfile>(), "sp");
    walk(walk, schema<CdiConfig>(), "cdiconfig");
}

TEST(Schema, EnumsStandOnTheElementsOfLists) {
    const json::Value dv = schema<DataVolume>();
    EXPECT_EQ(
        json::text_at(dv, "/properties/spec/properties/pvc/properties/accessModes/items/enum/0"), "ReadWriteOnce"
    );
    EXPECT_EQ(json::find(dv, "/properties/spec/properties/pvc/properties/accessModes/enum"), nullptr);
    EXPECT_EQ(json::text_at(schema<VirtualMachine>(), "/properties/spec/properties/runStrategy/enum/0"), "Always");
}

}  // namespace
}  // namespace berth::api
