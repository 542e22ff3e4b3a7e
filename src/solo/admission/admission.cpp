#include "solo/admission/admission.hpp"

#include "placement/admission/defaults.hpp"
#include "placement/admission/validate.hpp"
#include "placement/requests.hpp"

namespace berth::solo {
namespace {

using apiserver::Admission;
using apiserver::SubresourceAnswer;
using apiserver::SubresourceView;

// Config of the defaults: what `berth up` offers. A KubeVirt object changes what pods look like, not what is stored.
const placement::Config& config() {
    static const placement::Config config = placement::solo_config();
    return config;
}

Admission machines() {
    Admission out;
    out.mutate_create = [](json::Value& vm, const kube::User&) { placement::default_vm(vm); };
    out.mutate_update = [](json::Value& vm, const json::Value& old, const kube::User&) { placement::keep_vm(vm, old); };
    out.validate = [](const json::Value& vm, const json::Value* old, const kube::User&) {
        return placement::validate_vm(vm, old);
    };
    return out;
}

Admission instances() {
    Admission out;
    out.mutate_create = [](json::Value& vmi, const kube::User& user) {
        placement::default_vmi(vmi, config(), placement::writer_of(user.name));
    };
    out.mutate_update = [](json::Value& vmi, const json::Value& old, const kube::User& user) {
        placement::keep_vmi(vmi, old, placement::writer_of(user.name));
    };
    out.validate = [](const json::Value& vmi, const json::Value* old, const kube::User& user) {
        return placement::validate_vmi(vmi, old, placement::writer_of(user.name));
    };
    return out;
}

std::string reason_of(int code) {
    switch (code) {
        case 400: return "BadRequest";
        case 404: return "NotFound";
        case 409: return "Conflict";
        default: return code >= 500 ? "InternalError" : "";
    }
}

using Decide = placement::Decision (*)(const json::Value&, const json::Value*, const json::Value&);

apiserver::Subresource verb(Decide decide) {
    return [decide](const SubresourceView& view) {
        SubresourceAnswer answer;
        if (view.vm == nullptr) {
            answer.code = 404;
            answer.reason = "NotFound";
            answer.message = "virtualmachine.kubevirt.io \"" + view.name + "\" not found";
            return answer;
        }
        placement::Decision decision = decide(*view.vm, view.vmi, view.body);
        answer.code = decision.code;
        answer.reason = reason_of(decision.code);
        answer.message = std::move(decision.message);
        answer.vm_patch = std::move(decision.vm_patch);
        answer.vmi_patch = std::move(decision.vmi_patch);
        return answer;
    };
}

}  // namespace

apiserver::Options server_options() {
    apiserver::Options out;
    out.admission[&api::kVirtualMachine] = machines();
    out.admission[&api::kVmi] = instances();
    out.subresources[{"virtualmachines", "start"}] = verb(placement::start);
    out.subresources[{"virtualmachines", "stop"}] = verb(placement::stop);
    out.subresources[{"virtualmachines", "restart"}] = verb(placement::restart);
    return out;
}

}  // namespace berth::solo
