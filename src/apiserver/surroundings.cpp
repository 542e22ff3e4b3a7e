#include "apiserver/surroundings.hpp"

namespace berth::apiserver {

Surroundings Around::seen_by(const kube::User& user) const {
    return {.user = user, .kubevirt = document_of(kubevirt), .vmi = document_of(vmi)};
}

Around around(const Core& core, const api::Kind& kind, const std::string& ns, const std::string& name) {
    Around out;
    const std::vector<store::RecordPtr> all = core.store.list(api::kKubeVirt.qualified(), "");
    if (!all.empty()) out.kubevirt = all.front();
    if (kind == api::kVirtualMachine) out.vmi = core.store.newest(key_for(api::kVmi, ns, name));
    return out;
}

}  // namespace berth::apiserver
