#include "solo/admission/machines.hpp"

#include "placement/admission/validate.hpp"
#include "placement/requests.hpp"

namespace berth::solo {
namespace {

using Verb = placement::Decision (*)(const json::Value& vm, const json::Value* vmi, const json::Value& options);

apiserver::SubresourceAnswer answer(placement::Decision decision) {
    apiserver::SubresourceAnswer out;
    out.code = decision.code;
    out.message = std::move(decision.message);
    if (out.code >= 400) out.reason = out.code == 409 ? "Conflict" : "InternalError";
    out.vm_patch = std::move(decision.vm_patch);
    out.vmi_patch = std::move(decision.vmi_patch);
    return out;
}

void add_verb(apiserver::Options& options, const char* name, Verb verb) {
    options.subresources[{std::string(api::kVirtualMachine.plural), name}] =
        [verb](const apiserver::SubresourceView& view) { return answer(verb(*view.vm, view.vmi, view.body)); };
}

}  // namespace

void add_machines(apiserver::Options& options, const placement::Config& config) {
    apiserver::Admission vm;
    vm.mutate_create = [](json::Value& object, const kube::User&) { placement::default_vm(object); };
    vm.mutate_update = [](json::Value& object, const json::Value& old, const kube::User&) {
        placement::keep_vm(object, old);
    };
    vm.validate = [](const json::Value& object, const json::Value* old, const kube::User&) {
        return placement::validate_vm(object, old);
    };
    options.admission[&api::kVirtualMachine] = std::move(vm);

    apiserver::Admission vmi;
    vmi.mutate_create = [config](json::Value& object, const kube::User& user) {
        placement::default_vmi(object, config, placement::writer_of(user.name));
    };
    vmi.mutate_update = [](json::Value& object, const json::Value& old, const kube::User& user) {
        placement::keep_vmi(object, old, placement::writer_of(user.name));
    };
    vmi.validate = [](const json::Value& object, const json::Value* old, const kube::User& user) {
        return placement::validate_vmi(object, old, placement::writer_of(user.name));
    };
    options.admission[&api::kVmi] = std::move(vmi);

    add_verb(options, "start", placement::start);
    add_verb(options, "stop", placement::stop);
    add_verb(options, "restart", placement::restart);
}

}  // namespace berth::solo
