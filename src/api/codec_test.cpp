// What is said of a document that does not fit its type.
#include "api/codec.hpp"

#include "api/kubevirt.hpp"

namespace berth::api {
namespace {

TEST(Decode, ErrorsNameThePlace) {
    const auto error_of = [](std::string_view text) {
        return decode<VirtualMachine>(json::parse(text).value()).error().message;
    };
    EXPECT_TRUE(
        error_of(
            R"({"spec":{"dataVolumeTemplates":[{"spec":{"storage":{"resources":{"requests":{"storage":"1XB"}}}}}]}})"
        )
            .starts_with("spec.dataVolumeTemplates[0].spec.storage.resources.requests.storage: \"1XB\"")
    );
    EXPECT_TRUE(error_of(R"({"spec":{"template":{"spec":{"volumes":[{"name":"a"},{"name":7}]}}}})")
                    .starts_with("spec.template.spec.volumes[1].name: "));
}

}  // namespace
}  // namespace berth::api
