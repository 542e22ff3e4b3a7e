#include "cli/machine_view.hpp"

#include <set>

#include "api/codec.hpp"
#include "api/kind.hpp"
#include "placement/names.hpp"

namespace berth::cli {
namespace {

// The object as its type, or nothing when it is not there.
template <class T>
Task<Result<std::optional<T>>> look_up(kube::Api api, const api::Kind& kind, std::string ns, std::string name) {
    api::Key key{&kind, std::move(ns), std::move(name)};
    auto document = co_await api.get(std::move(key));
    if (!document && document.error().kind == ErrorKind::not_found) co_return std::optional<T>();
    if (!document) co_return std::unexpected(std::move(document).error());
    CO_TRY(T object, api::decode<T>(**document));
    co_return std::optional<T>(std::move(object));
}

template <class T>
Task<Result<void>> add(kube::Api api, const api::Kind& kind, std::string ns, std::string name, std::vector<T>* out) {
    CO_TRY(std::optional<T> object, co_await look_up<T>(std::move(api), kind, std::move(ns), std::move(name)));
    if (object) out->push_back(*std::move(object));
    co_return Result<void>{};
}

template <class T>
Task<Result<void>> add_all(kube::Api api, const api::Kind& kind, kube::ListOptions options, std::vector<T>* out) {
    CO_TRY(const kube::Listing listing, co_await api.list(kind, std::move(options)));
    for (const kube::Document& document : listing.items) {
        CO_TRY(T object, api::decode<T>(*document));
        out->push_back(std::move(object));
    }
    co_return Result<void>{};
}

std::set<std::string> claims_of(const explain::View& view) {
    std::set<std::string> names;
    const auto read = [&names](const std::vector<api::VmVolume>& volumes) {
        for (const api::VmVolume& volume : volumes) {
            if (const std::string name = volume.claim_name(); !name.empty()) names.insert(name);
        }
    };
    if (view.vmi) {
        read(view.vmi->spec.volumes);
        for (const api::VmVolumeStatus& status : view.vmi->status.volume_status) {
            if (status.persistent_volume_claim_info) names.insert(status.persistent_volume_claim_info->claim_name);
        }
    }
    if (view.vm && view.vm->spec.vmi_template) read(view.vm->spec.vmi_template->spec.volumes);
    return names;
}

// A claim with its DataVolume, volume and worker pod.
Task<Result<void>> add_disk(kube::Api api, std::string ns, std::string name, explain::View* view) {
    CO_TRY_DO(co_await add(api, api::kDataVolume, ns, name, &view->data_volumes));
    const std::size_t before = view->claims.size();
    CO_TRY_DO(co_await add(api, api::kClaim, ns, name, &view->claims));
    if (view->claims.size() == before) co_return Result<void>{};
    const std::string volume = view->claims.back().spec.volume_name;
    if (!volume.empty()) CO_TRY_DO(co_await add(api, api::kVolume, std::string(), volume, &view->volumes));
    CO_TRY_DO(co_await add(api, api::kPod, ns, "importer-" + name, &view->pods));
    co_return Result<void>{};
}

// Pods of plugged volumes belong to a launcher pod of the machine, and not to the machine itself.
Task<Result<void>> add_plug_pods(kube::Api api, std::string ns, explain::View* view) {
    kube::ListOptions plugged{.ns = std::move(ns)};
    plugged.label_selector = "kubevirt.io=hotplug-disk";
    std::vector<api::Pod> pods;
    CO_TRY_DO(co_await add_all(std::move(api), api::kPod, plugged, &pods));
    const std::size_t count = view->pods.size();
    for (api::Pod& pod : pods) {
        const auto owns = [&pod](const api::Pod& owner) { return pod.metadata.is_controlled_by(owner.metadata.uid); };
        if (std::any_of(view->pods.begin(), view->pods.begin() + static_cast<std::ptrdiff_t>(count), owns)) {
            view->pods.push_back(std::move(pod));
        }
    }
    co_return Result<void>{};
}

std::string text(const json::Value& document, std::string_view pointer) {
    return std::string(json::text_at(document, pointer));
}

// When an event was last seen; RFC 3339 in UTC sorts as text.
std::string seen_at(const json::Value& event) {
    for (const char* const pointer :
         {"/series/lastObservedTime", "/lastTimestamp", "/eventTime", "/metadata/creationTimestamp"}) {
        if (std::string at = text(event, pointer); !at.empty()) return at;
    }
    return {};
}

}  // namespace

std::map<std::string, std::vector<std::string>> warnings_in(const std::vector<kube::Document>& events) {
    std::map<std::string, std::multimap<std::string, std::string, std::greater<>>> seen;  // messages by time
    for (const kube::Document& event : events) {
        if (json::text_at(*event, "/type") != "Warning") continue;
        std::string kind = text(*event, "/involvedObject/kind");
        for (char& c : kind) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
        const std::string object = kind + "/" + text(*event, "/involvedObject/name");
        seen[object].emplace(seen_at(*event), text(*event, "/message"));
    }
    std::map<std::string, std::vector<std::string>> out;
    for (auto& [object, warnings] : seen) {
        for (auto& [at, message] : warnings) out[object].push_back(std::move(message));
    }
    return out;
}

Task<Result<explain::View>> gather(kube::Api api, Clock& clock, std::string ns, MachineName machine) {
    explain::View view;
    view.now = clock.now();
    CO_TRY(view.vmi, co_await look_up<api::VirtualMachineInstance>(api, api::kVmi, ns, machine.name));
    if (!machine.is_instance) {
        CO_TRY(view.vm, co_await look_up<api::VirtualMachine>(api, api::kVirtualMachine, ns, machine.name));
    }
    if (!view.vm && (!view.vmi || !machine.is_instance)) {
        const std::string other = view.vmi ? "; there is a VMI of that name: berth explain vmi " + machine.name
                                           : "; see those there are: kubectl get vm,vmi -n " + ns;
        co_return fail(ErrorKind::not_found, "no such machine in namespace \"" + ns + "\"" + other);
    }
    for (const std::string& name : claims_of(view)) CO_TRY_DO(co_await add_disk(api, ns, name, &view));
    if (view.vmi) {
        kube::ListOptions own{.ns = ns};
        own.label_selector = std::string(placement::kLabelCreatedBy) + "=" + view.vmi->metadata.uid.value;
        CO_TRY_DO(co_await add_all(api, api::kPod, own, &view.pods));
        CO_TRY_DO(co_await add_plug_pods(api, ns, &view));
    }
    kube::ListOptions everywhere;
    CO_TRY_DO(co_await add_all(api, api::kNode, everywhere, &view.nodes));
    kube::ListOptions warnings{.ns = ns};
    warnings.field_selector = "type=Warning";
    CO_TRY(const kube::Listing events, co_await api.list(api::kEvent, warnings));
    view.warnings = warnings_in(events.items);
    co_return view;
}

}  // namespace berth::cli
