#include "placement/names.hpp"

#include <algorithm>

#include "api/codec.hpp"
#include "base/hash.hpp"

namespace berth::placement {
namespace {

constexpr std::size_t kNameMax = 253;  // a DNS subdomain
constexpr std::size_t kLabelMax = 63;  // a DNS label, a label's value
constexpr std::string_view kPrefix = "virt-launcher-";

api::OwnerReference reference(const api::Kind& kind, const api::ObjectMeta& meta) {
    return {
        .api_version = kind.api_version(),
        .kind = std::string(kind.kind),
        .name = meta.name,
        .uid = meta.uid,
        .controller = true,
        .block_owner_deletion = true,
    };
}

}  // namespace

std::string pod_name(const api::VirtualMachineInstance& vmi, std::string_view role, std::vector<Uid> claims) {
    std::ranges::sort(claims);
    std::string identity = vmi.metadata.uid.value + "\n" + std::string(role);
    for (const Uid& claim : claims) identity += "\n" + claim.value;
    const std::string suffix = "-" + short_hash(identity);
    std::string name = vmi.metadata.name.substr(0, kNameMax - kPrefix.size() - suffix.size());
    while (!name.empty() && (name.back() == '.' || name.back() == '-')) name.pop_back();
    return std::string(kPrefix) + name + suffix;
}

std::string vmi_id(const std::string& vmi_name) {
    if (vmi_name.size() <= kLabelMax) return vmi_name;
    return vmi_name.substr(0, 54) + "-" + sha1_hex(vmi_name).substr(0, 8);
}

std::string hostname_of(const api::VirtualMachineInstance& vmi) {
    if (!vmi.spec.hostname.empty()) return vmi.spec.hostname;
    std::string label = vmi.metadata.name.substr(0, vmi.metadata.name.find('.')).substr(0, kLabelMax);
    while (!label.empty() && label.back() == '-') label.pop_back();
    return label;
}

std::string revision_name(const Uid& vm, std::int64_t generation) {
    return "revision-start-vm-" + vm.value + "-" + std::to_string(generation);
}

std::string uuid_from(std::string_view seed) {
    std::string hex = sha1_hex(seed).substr(0, 32);
    hex[12] = '5';  // a version 5 UUID: made from a name
    hex[16] = "89ab"[static_cast<unsigned>(hex[16]) % 4];
    return hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" + hex.substr(16, 4) + "-" +
           hex.substr(20);
}

bool is_temp(const api::Pod& pod) { return pod.metadata.annotations.contains(kTempPod); }

api::Key key_of(const api::VirtualMachine& vm) { return {&api::kVirtualMachine, vm.metadata.ns, vm.metadata.name}; }
api::Key key_of(const api::VirtualMachineInstance& vmi) { return {&api::kVmi, vmi.metadata.ns, vmi.metadata.name}; }
api::Key key_of(const api::Pod& pod) { return {&api::kPod, pod.metadata.ns, pod.metadata.name}; }

api::OwnerReference owned_by(const api::VirtualMachine& vm) { return reference(api::kVirtualMachine, vm.metadata); }
api::OwnerReference owned_by(const api::VirtualMachineInstance& vmi) { return reference(api::kVmi, vmi.metadata); }

template <class T>
json::Value document_of(const api::Kind& kind, const T& object) {
    json::Object document{
        {"apiVersion", kind.api_version()},
        {"kind",       kind.kind         }
    };
    const json::Value encoded = api::encode(object);
    for (const auto& [key, value] : encoded.get_object()) document[key] = value;
    return document;
}

template json::Value document_of(const api::Kind&, const api::Pod&);
template json::Value document_of(const api::Kind&, const api::DataVolume&);
template json::Value document_of(const api::Kind&, const api::VirtualMachine&);
template json::Value document_of(const api::Kind&, const api::VirtualMachineInstance&);
template json::Value document_of(const api::Kind&, const api::ControllerRevision&);

}  // namespace berth::placement
