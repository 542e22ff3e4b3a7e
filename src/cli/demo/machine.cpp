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

constexpr const char* kInstance = R"({
  "apiVersion": "kubevirt.io/v1",
  "kind": "VirtualMachineInstance",
  "metadata": {"name": "demo-plug", "namespace": "default"},
  "spec": {
    "terminationGracePeriodSeconds": 20,
    "domain": {
      "memory": {"guest": "128Mi"},
      "devices": {"disks": [
        {"name": "root", "bootOrder": 1, "disk": {"bus": "virtio"}},
        {"name": "cloudinit", "disk": {"bus": "virtio"}}]}},
    "volumes": [
      {"name": "root", "containerDisk": {"image": "berth.local/guest"}},
      {"name": "cloudinit", "cloudInitNoCloud": {"userData": "#cloud-config\nhostname: demo-plug\n"}}]
  }
})";

constexpr const char* kDisk = R"({
  "apiVersion": "cdi.kubevirt.io/v1beta1",
  "kind": "DataVolume",
  "metadata": {"name": "", "namespace": "default"},
  "spec": {
    "source": {"blank": {}},
    "storage": {"storageClassName": "local", "volumeMode": "", "resources": {"requests": {"storage": "64Mi"}}}
  }
})";

json::Value read(const char* text) {
    Result<json::Value> document = json::parse(text);
    CHECK(document.has_value());
    return *std::move(document);
}

void put(json::Value& document, std::string_view pointer, const std::string& value) {
    json::Value* const at = json::find(document, pointer);
    CHECK(at != nullptr);
    *at = value;
}

}  // namespace

json::Value demo_machine(const std::string& url) {
    json::Value document = read(kDocument);
    put(document, "/spec/dataVolumeTemplates/0/spec/source/http/url", url);
    return document;
}

json::Value demo_instance() { return read(kInstance); }

json::Value demo_disk(const std::string& name, const std::string& mode) {
    json::Value document = read(kDisk);
    put(document, "/metadata/name", name);
    put(document, "/spec/storage/volumeMode", mode);
    return document;
}

}  // namespace berth::cli
