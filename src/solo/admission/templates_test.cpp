// DataVolumes that a VM asks for are checked with the VM.
#include "api/kind.hpp"
#include "solo/admission/admission.hpp"

namespace berth::solo {
namespace {

json::Value vm(const std::string& size) {
    const std::string text =
        R"({"metadata":{"name":"web","namespace":"t"},"spec":{"runStrategy":"Halted","dataVolumeTemplates":[)"
        R"({"metadata":{"name":"root"},"spec":{"source":{"blank":{}},"storage":{"resources":{"requests":{"storage":")" +
        size +
        R"("}}}}}],"template":{"spec":{"domain":{"memory":{"guest":"64Mi"},"devices":{"disks":[{"name":"root","disk":{}}]}},)"
        R"("volumes":[{"name":"root","dataVolume":{"name":"root"}}]}}}})";
    return json::parse(text).value();
}

std::string verdict(const json::Value& now, const json::Value* old) {
    const kube::User user{"joe", {}};
    const apiserver::Options options = server_options();
    std::string out;
    for (const api::Cause& cause : options.admission.at(&api::kVirtualMachine).validate(now, old, {.user = user}))
        out += cause.field + ": " + cause.message + "\n";
    return out;
}

TEST(TemplatesOfAVm, ASizeThatNoClaimCanHave) {
    EXPECT_EQ(verdict(vm("1Gi"), nullptr), "");
    for (const char* size : {"0", "-5Gi"}) {
        const std::string told = verdict(vm(size), nullptr);
        EXPECT_TRUE(told.starts_with("spec.dataVolumeTemplates[0].spec.storage.resources")) << told;
    }
    const json::Value old = vm("0");
    json::Value now = old;
    json::set(now, "/spec/runStrategy", json::Value("Always"));
    EXPECT_EQ(verdict(now, &old), "") << "one that is there already does not keep the VM from being changed";
}

}  // namespace
}  // namespace berth::solo
