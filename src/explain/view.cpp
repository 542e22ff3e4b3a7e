#include "explain/view.hpp"

namespace berth::explain {

std::string warning_of(const View& view, const std::string& object, const std::string& word) {
    const auto it = view.warnings.find(object);
    if (it == view.warnings.end()) return {};
    const auto found =
        std::ranges::find_if(it->second, [&](const std::string& text) { return text.find(word) != std::string::npos; });
    return found == it->second.end() ? std::string() : *found;
}

std::vector<std::string> nodes_of(const api::PersistentVolume& volume) {
    std::vector<std::string> out;
    if (!volume.spec.node_affinity || !volume.spec.node_affinity->required) return out;
    for (const api::NodeSelectorTerm& term : volume.spec.node_affinity->required->node_selector_terms) {
        for (const api::SelectorRequirement& requirement : term.match_expressions) {
            if (requirement.key != "kubernetes.io/hostname") continue;
            out.insert(out.end(), requirement.values.begin(), requirement.values.end());
        }
    }
    return out;
}

}  // namespace berth::explain
