#include "placement/pod/where.hpp"

#include "placement/names.hpp"

namespace berth::placement {
namespace {

constexpr std::string_view kHostModel = "host-model";
constexpr std::string_view kHostPassthrough = "host-passthrough";

std::string cpu_model_of(const api::VmiSpec& spec, const Config& config) {
    return spec.domain.cpu && !spec.domain.cpu->model.empty() ? spec.domain.cpu->model : config.default_cpu_model;
}

std::string architecture_of(const api::VmiSpec& spec, const Config& config) {
    return spec.architecture.empty() ? config.default_architecture : spec.architecture;
}

}  // namespace

std::map<std::string, std::string> node_selector_for(const api::VmiSpec& spec, const Config& config) {
    const std::string architecture = architecture_of(spec, config);
    std::map<std::string, std::string> out = {
        {kLabelSchedulable,    "true"      },
        {"kubernetes.io/arch", architecture}
    };
    for (const auto& [key, value] : config.node_selectors) out[key] = value;
    for (const auto& [key, value] : spec.node_selector) out[key] = value;
    const std::string model = cpu_model_of(spec, config);
    if (model != kHostModel && model != kHostPassthrough) out["cpu-model.node.kubevirt.io/" + model] = "true";
    if (spec.domain.cpu && spec.domain.cpu->features.is_array()) {
        for (const json::Value& feature : spec.domain.cpu->features.get_array()) {
            const std::string_view policy = json::text_at(feature, "/policy");
            if (!policy.empty() && policy != "require") continue;
            out["cpu-feature.node.kubevirt.io/" + std::string(json::text_at(feature, "/name"))] = "true";
        }
    }
    const bool names_machine = spec.domain.machine && !spec.domain.machine->type.empty();
    const std::string machine = names_machine ? spec.domain.machine->type : config.machine_type_for(architecture);
    out["machine-type.node.kubevirt.io/" + machine] = "true";
    if (spec.domain.cpu && spec.domain.cpu->dedicated_cpu_placement) out["cpumanager"] = "true";
    return out;
}

std::optional<api::Affinity> affinity_for(const api::VmiSpec& spec, const Config& config) {
    std::optional<api::Affinity> out = spec.affinity;
    if (cpu_model_of(spec, config) != kHostModel) return out;
    if (!out) out.emplace();
    if (!out->node_affinity) out->node_affinity.emplace();
    if (!out->node_affinity->required) out->node_affinity->required.emplace();
    std::vector<api::NodeSelectorTerm>& terms = out->node_affinity->required->node_selector_terms;
    if (terms.empty()) terms.emplace_back();
    // Terms are alternatives: the requirement goes into each of them.
    for (api::NodeSelectorTerm& term : terms) {
        term.match_expressions.push_back(
            {.key = "node-labeller.kubevirt.io/obsolete-host-model", .op = "DoesNotExist", .values = {}}
        );
    }
    return out;
}

}  // namespace berth::placement
