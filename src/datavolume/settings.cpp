#include "datavolume/settings.hpp"

#include <vector>

namespace berth::datavolume {
namespace {

enum class Listed { absent, no, yes };

Listed listed(const json::Value* spec, std::string_view gate) {
    const json::Value* gates = spec == nullptr ? nullptr : json::find(*spec, "/featureGates");
    if (gates == nullptr || !gates->is_array()) return Listed::absent;
    for (const json::Value& one : gates->get_array()) {
        if (one.is_string() && one.get_string() == gate) return Listed::yes;
    }
    return Listed::no;
}

// The text of an amount may have been written as a number.
std::optional<Overhead> overhead_in(const json::Value& value) {
    return value.is_string() ? parse_overhead(std::string_view(value.get_string()))
                             : parse_overhead(json::print(value));
}

void read_overhead(const json::Value* spec, Settings& out) {
    const json::Value* overhead = spec == nullptr ? nullptr : json::find(*spec, "/filesystemOverhead");
    if (overhead == nullptr) return;
    if (const json::Value* global = json::find(*overhead, "/global")) {
        if (const auto read = overhead_in(*global)) out.overhead = *read;
    }
    const json::Value* classes = json::find(*overhead, "/storageClass");
    if (classes == nullptr || !classes->is_object()) return;
    for (const auto& [name, value] : classes->get_object()) {
        if (const auto read = overhead_in(value)) out.class_overhead[std::string(name)] = *read;
    }
}

json::Value default_resources() {
    return json::Object{
        {"limits",   json::Object{{"cpu", "750m"}, {"memory", "600M"}}},
        {"requests", json::Object{{"cpu", "100m"}, {"memory", "60M"}} },
    };
}

}  // namespace

Overhead Settings::overhead_of(const std::string& storage_class) const {
    const auto it = class_overhead.find(storage_class);
    return it == class_overhead.end() ? overhead : it->second;
}

Settings read_settings(const json::Value* cdi, const json::Value* cdi_config) {
    Settings out;
    out.worker_resources = default_resources();
    // From the weakest to the strongest: what was resolved, the configuration, the operator's own resource.
    const json::Value* const specs[] = {
        cdi_config == nullptr ? nullptr : json::find(*cdi_config, "/status"),
        cdi_config == nullptr ? nullptr : json::find(*cdi_config, "/spec"),
        cdi == nullptr ? nullptr : json::find(*cdi, "/spec/config"),
    };
    for (const json::Value* spec : specs) {
        if (spec == nullptr) continue;
        if (listed(spec, "HonorWaitForFirstConsumer") == Listed::no) out.honors_first_consumer = false;
        if (listed(spec, "DataVolumeClaimAdoption") == Listed::yes) out.adopts_claims = true;
        read_overhead(spec, out);
        out.preallocates = json::bool_at(*spec, "/preallocation", out.preallocates);
        for (const char* at : {"/defaultPodResourceRequirements", "/podResourceRequirements"}) {
            const json::Value* resources = json::find(*spec, at);
            if (resources != nullptr && resources->is_object()) out.worker_resources = *resources;
        }
    }
    return out;
}

}  // namespace berth::datavolume
