#include "cli/demo/machine.hpp"

#include "base/check.hpp"

namespace berth::cli {
namespace {

constexpr const char* kDocument = R"({
  "apiVersion": "kubevirt.io/v1",
  "kind": "VirtualMachine",
  "metadata": {"name": "demo", "namespace": "default"},
  "spec": {
    "runStrategy": "Always",
    "dataVolumeTemplates": [
      {"metadata": {"name": "demo-root"},
       "spec": {"source": {"http": {"url": ""}},
                "storage": {"storageClassName": "local", "resources": {"requests": {"storage": "1Gi"}}}}},
      {"metadata": {"name": "demo-data"},
       "spec": {"source": {"blank": {}},
                "storage": {"storageClassName": "local", "resources": {"requests": {"storage": "256Mi"}}}}}
    ],
    "template": {"spec": {
      "terminationGracePeriodSeconds": 20,
      "domain": {
        "memory": {"guest": "128Mi"},
        "devices": {"disks": [
          {"name": "root", "bootOrder": 1, "disk": {"bus": "virtio"}},
          {"name": "data", "serial": "demo-data", "disk": {"bus": "scsi"}}]}},
      "volumes": [
        {"name": "root", "dataVolume": {"name": "demo-root"}},
        {"name": "data", "dataVolume": {"name": "demo-data"}}]
    }}
  }
})";

}  // namespace

json::Value demo_machine(const std::string& url) {
    Result<json::Value> document = json::parse(kDocument);
    CHECK(document.has_value());
    json::Value* const at = json::find(*document, "/spec/dataVolumeTemplates/0/spec/source/http/url");
    CHECK(at != nullptr);
    *at = url;
    return *std::move(document);
}

}  // namespace berth::cli
