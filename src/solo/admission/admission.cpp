#include "solo/admission/admission.hpp"

#include "api/codec.hpp"
#include "datavolume/admission/validate.hpp"
#include "datavolume/settings.hpp"
#include "hotplug/admission/queue.hpp"
#include "hotplug/admission/spec.hpp"
#include "hotplug/admission/vmi_update.hpp"
#include "hotplug/requests/requests.hpp"
#include "placement/admission/defaults.hpp"
#include "placement/admission/validate.hpp"
#include "placement/requests.hpp"
#include "solo/admission/ports.hpp"

namespace berth::solo {
namespace {

using apiserver::Admission;
using apiserver::SubresourceAnswer;
using apiserver::SubresourceView;
using apiserver::Surroundings;

// Config of the defaults: what `berth up` offers. A KubeVirt object changes what pods look like, not what is stored.
const placement::Config& config() {
    static const placement::Config config = placement::solo_config();
    return config;
}

bool changes_spec(const json::Value& now, const json::Value& old) {
    const json::Value* after = json::find(now, "/spec");
    const json::Value* before = json::find(old, "/spec");
    return after != nullptr && before != nullptr && !json::equal(*after, *before);
}

std::vector<api::Cause> check_plugs(
    const json::Value& object, const json::Value* old, const std::string& at, const hotplug::Gates& gates
) {
    std::string field = at.substr(1);
    std::ranges::replace(field, '/', '.');
    const json::Value* spec = json::find(object, at);
    const json::Value* before = old == nullptr ? nullptr : json::find(*old, at);
    const auto typed = api::decode<api::VmiSpec>(spec == nullptr ? json::Value(json::Object()) : *spec);
    if (!typed) return {api::invalid(field, "object", typed.error().message)};
    const auto known = before == nullptr ? std::nullopt : std::optional(api::decode<api::VmiSpec>(*before));
    return hotplug::check_spec(*typed, known && *known ? &**known : nullptr, field, gates);
}

// A machine that its requests would spoil is refused with the requests.
std::vector<api::Cause> check_requests(const json::Value& vm, const json::Value* old, const Surroundings& around) {
    auto causes = hotplug::check_queue(vm, old, around.vmi);
    if (!causes.empty() || !hotplug::changes_queue(vm, old)) return causes;
    const json::Value* queue = json::find(vm, "/status/volumeRequests");
    const auto check = [&](const json::Value& object, const std::string& at, const std::string& field) {
        const json::Value* spec = json::find(object, at);
        if (queue == nullptr || spec == nullptr) return;
        const auto typed = api::decode<api::VmiSpec>(hotplug::with_requests(*spec, queue->get_array()));
        if (!typed) {
            causes.push_back(api::invalid(field, "object", typed.error().message));
            return;
        }
        std::ranges::move(placement::validate_spec(*typed, field), std::back_inserter(causes));
        const auto before = api::decode<api::VmiSpec>(*spec);
        const auto gates = hotplug::gates_of(around.kubevirt);
        const auto plugs = hotplug::check_spec(*typed, before ? &*before : nullptr, field, gates);
        causes.insert(causes.end(), plugs.begin(), plugs.end());
    };
    check(vm, "/spec/template/spec", "spec.template.spec");
    const json::Value* vmi = around.vmi;
    const bool is_ready = vmi != nullptr && json::text_at(*vmi, "/metadata/deletionTimestamp").empty();
    if (causes.empty() && is_ready && json::bool_at(vm, "/status/ready")) check(*vmi, "/spec", "spec");
    return causes;
}

const json::Array& templates_of(const json::Value* vm) {
    static const json::Array none;
    const json::Value* list = vm == nullptr ? nullptr : json::find(*vm, "/spec/dataVolumeTemplates");
    return list != nullptr && list->is_array() ? list->get_array() : none;
}

// A DataVolume that could not be made is refused with the machine that wants it, not found out when the machine starts.
std::vector<api::Cause> check_templates(const json::Value& vm, const json::Value* old) {
    std::vector<api::Cause> out;
    const json::Array& known = templates_of(old);
    const json::Array& entries = templates_of(&vm);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (std::ranges::find(known, entries[i]) != known.end()) continue;
        const std::string place = "spec.dataVolumeTemplates[" + std::to_string(i) + "].";
        for (api::Cause& cause : datavolume::validate(entries[i], nullptr)) {
            cause.field = place + cause.field;
            cause.message = place + cause.message;
            out.push_back(std::move(cause));
        }
    }
    return out;
}

Admission machines() {
    Admission out;
    out.mutate_create = [](json::Value& vm, const kube::User&) { placement::default_vm(vm); };
    out.mutate_update = [](json::Value& vm, const json::Value& old, const kube::User&) { placement::keep_vm(vm, old); };
    out.validate = [](const json::Value& vm, const json::Value* old, const Surroundings& around) {
        auto causes = placement::validate_vm(vm, old);
        if (causes.empty()) causes = check_templates(vm, old);
        if (causes.empty() && (old == nullptr || changes_spec(vm, *old)))
            causes = check_plugs(vm, old, "/spec/template/spec", hotplug::gates_of(around.kubevirt));
        return causes.empty() ? check_requests(vm, old, around) : causes;
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
    out.validate = [](const json::Value& vmi, const json::Value* old, const Surroundings& around) {
        auto causes = placement::validate_vmi(vmi, old, placement::writer_of(around.user.name));
        if (!causes.empty()) return causes;
        if (old != nullptr && !changes_spec(vmi, *old)) return causes;
        const hotplug::Gates gates = hotplug::gates_of(around.kubevirt);
        causes = old == nullptr ? hotplug::check_vmi_create(vmi) : hotplug::check_vmi_update(vmi, *old, gates);
        return causes.empty() ? check_plugs(vmi, old, "/spec", gates) : causes;
    };
    return out;
}

Admission data_volumes() {
    Admission out;
    out.validate = [](const json::Value& dv, const json::Value* old, const Surroundings&) {
        return datavolume::validate(dv, old);
    };
    out.validate_beside = [](const json::Value& dv, const apiserver::Look& look) {
        const api::Key key = api::key_of(dv);
        const auto document = look({&api::kClaim, key.ns, key.name});
        const auto claim = document ? api::decode<api::PersistentVolumeClaim>(*document) : api::PersistentVolumeClaim{};
        if (!document || !claim) return std::vector<api::Cause>();
        const auto cdi = look({&api::kCdi, "", "cdi"});
        const auto cdi_config = look({&api::kCdiConfig, "", "config"});
        return datavolume::validate_beside(
            dv, *claim, datavolume::read_settings(cdi.get(), cdi_config.get()).adopts_claims
        );
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
        if (!view.body) {
            answer.code = 400;
            answer.reason = reason_of(answer.code);
            answer.message = "the request cannot be read: " + view.body.error().message;
            return answer;
        }
        placement::Decision decision = decide(*view.vm, view.vmi, *view.body);
        answer.code = decision.code;
        answer.reason = reason_of(decision.code);
        answer.message = std::move(decision.message);
        answer.vm_patch = std::move(decision.vm_patch);
        answer.vmi_patch = std::move(decision.vmi_patch);
        return answer;
    };
}

hotplug::RequestView request_of(const SubresourceView& view, hotplug::Target target) {
    return {
        .target = target,
        .name = view.name,
        .vm = target == hotplug::Target::machine ? view.vm : nullptr,
        .vmi = view.vmi,
        .gates = hotplug::gates_of(view.kubevirt),
        .body = view.body,
        .free_ports = view.vmi == nullptr ? std::nullopt : free_ports(*view.vmi),
    };
}

using Plug = hotplug::Decision (*)(const hotplug::RequestView&);

apiserver::Subresource plug(Plug decide, hotplug::Target target) {
    return [decide, target](const SubresourceView& view) {
        hotplug::Decision decision = decide(request_of(view, target));
        SubresourceAnswer answer;
        answer.code = decision.code;
        answer.reason = std::move(decision.reason);
        answer.message = std::move(decision.message);
        answer.causes = std::move(decision.causes);
        auto& patch = target == hotplug::Target::machine ? answer.vm_patch : answer.vmi_patch;
        patch = std::move(decision.patch);
        answer.warnings = std::move(decision.warnings);
        answer.is_dry_run = decision.is_dry_run;
        return answer;
    };
}

}  // namespace

apiserver::Options server_options() {
    apiserver::Options out;
    out.admission[&api::kVirtualMachine] = machines();
    out.admission[&api::kVmi] = instances();
    out.admission[&api::kDataVolume] = data_volumes();
    out.subresources[{"virtualmachines", "start"}] = verb(placement::start);
    out.subresources[{"virtualmachines", "stop"}] = verb(placement::stop);
    out.subresources[{"virtualmachines", "restart"}] = verb(placement::restart);
    for (const auto& [resource, target] : {
             std::pair{"virtualmachines",         hotplug::Target::machine },
             std::pair{"virtualmachineinstances", hotplug::Target::instance},
    }) {
        out.subresources[{resource, "addvolume"}] = plug(hotplug::add_volume, target);
        out.subresources[{resource, "removevolume"}] = plug(hotplug::remove_volume, target);
    }
    return out;
}

}  // namespace berth::solo
