#include "placement/config.hpp"

#include <charconv>

#include "api/codec.hpp"
#include "base/ranges.hpp"

namespace berth::placement {
namespace {

// A ratio such as "1.2", as text or as a number, in thousandths.
std::optional<std::int64_t> ratio_milli(const json::Value* value) {
    if (value == nullptr) return {};
    const std::string text = value->is_string() ? std::string(value->get_string()) : json::print(*value);
    const auto milli = milli_value(text);
    if (!milli || *milli < 1000) return {};
    return *milli;
}

void read_developer(Config& config, const json::Value& developer) {
    if (const auto ratio = json::integer_at(developer, "/cpuAllocationRatio"); ratio && *ratio > 0)
        config.cpu_allocation_ratio = *ratio;
    if (const auto percent = json::integer_at(developer, "/memoryOvercommit"); percent && *percent > 0)
        config.memory_overcommit = *percent;
    config.use_emulation = json::bool_at(developer, "/useEmulation", config.use_emulation);
    if (const json::Value* selectors = json::find(developer, "/nodeSelectors");
        selectors != nullptr && selectors->is_object()) {
        for (const auto& [key, value] : selectors->get_object()) {
            if (value.is_string()) config.node_selectors[std::string(key)] = std::string(value.get_string());
        }
    }
    if (const json::Value* gates = json::find(developer, "/featureGates"); gates != nullptr && gates->is_array()) {
        config.runs_as_root = contains(gates->get_array(), json::Value("Root"));
    }
}

void read_support_resources(Config& config, const json::Value& list) {
    if (!list.is_array()) return;
    config.support_resources.clear();
    for (const json::Value& one : list.get_array()) {
        const json::Value* resources = json::find(one, "/resources");
        if (resources == nullptr) continue;
        auto typed = api::decode<api::ResourceRequirements>(*resources);
        if (typed) config.support_resources.push_back({std::string(json::text_at(one, "/type")), std::move(*typed)});
    }
}

void read_text(std::string& out, const json::Value& root, std::string_view pointer) {
    if (const std::string_view text = json::text_at(root, pointer); !text.empty()) out = text;
}

}  // namespace

std::string Config::machine_type_for(const std::string& architecture) const {
    if (const auto it = machine_types.find(architecture); it != machine_types.end()) return it->second;
    if (architecture == "arm64") return "virt";
    if (architecture == "s390x") return "s390-ccw-virtio";
    return "q35";
}

Config solo_config() {
    Config config;
    config.offers_kvm_device = false;
    config.offers_network_devices = false;
    return config;
}

Config config_from(Config config, const api::KubeVirt& kubevirt) {
    const json::Value* found = json::find(kubevirt.spec, "/configuration");
    if (found == nullptr) return config;
    const json::Value& root = *found;
    if (const json::Value* developer = json::find(root, "/developerConfiguration")) read_developer(config, *developer);
    if (const auto ratio = ratio_milli(json::find(root, "/additionalGuestMemoryOverheadRatio")))
        config.overhead_ratio_milli = *ratio;
    if (const json::Value* list = json::find(root, "/supportContainerResources")) read_support_resources(config, *list);
    read_text(config.default_cpu_model, root, "/cpuModel");
    read_text(config.default_runtime_class, root, "/defaultRuntimeClass");
    read_text(config.eviction_strategy, root, "/evictionStrategy");
    read_text(config.default_network_interface, root, "/network/defaultNetworkInterface");
    read_text(config.default_architecture, root, "/architectureConfiguration/defaultArchitecture");
    for (const char* architecture : {"amd64", "arm64", "s390x"}) {
        const std::string pointer = std::string("/architectureConfiguration/") + architecture + "/machineType";
        if (const std::string_view type = json::text_at(root, pointer); !type.empty())
            config.machine_types[architecture] = type;
    }
    return config;
}

}  // namespace berth::placement
