#include "hotplug/requests/options.hpp"

#include "api/codec.hpp"

namespace berth::hotplug {
namespace {

constexpr std::size_t kNameMax = 1024;  // answers repeat the name

const json::Value* present(const json::Value& body, std::string_view key) {
    const json::Value* found = body.get_object().if_contains(key);
    return found == nullptr || found->is_null() ? nullptr : found;
}

std::unexpected<Error> wrong(const std::string& what) { return fail(ErrorKind::invalid, what); }

Result<std::vector<std::string>> read_dry_run(const json::Value& body) {
    std::vector<std::string> out;
    const json::Value* list = present(body, "dryRun");
    if (list == nullptr) return out;
    if (!list->is_array()) return wrong("dryRun: must be a list");
    for (const json::Value& one : list->get_array()) {
        if (!one.is_string()) return wrong("dryRun: must be a list of strings");
        if (one.get_string() != "All")
            return wrong("dryRun: unknown value " + json::print(one) + ", write [\"All\"] or leave it out");
        out.emplace_back(one.get_string());
    }
    return out;
}

// Only what a request may name: a claim or a DataVolume.
Result<void> read_source(Options& out, const json::Value& source) {
    if (!source.is_object()) return wrong("volumeSource: must be an object");
    json::Object volume{
        {"name", out.name}
    };
    for (const char* key : {"persistentVolumeClaim", "dataVolume"}) {
        if (const json::Value* found = present(source, key)) volume[key] = *found;
    }
    auto read = api::decode<api::VmVolume>(json::Value(std::move(volume)));
    if (!read) return wrong("volumeSource." + read.error().message);
    out.volume = std::move(*read);
    if (out.volume.data_volume) out.volume.data_volume->hotpluggable = true;
    if (out.volume.persistent_volume_claim) out.volume.persistent_volume_claim->hotpluggable = true;
    out.has_source = true;
    return {};
}

Result<void> read_disk(Options& out, const json::Value& disk) {
    if (!disk.is_object()) return wrong("disk: must be an object");
    auto read = api::decode<api::Disk>(disk);
    if (!read) return wrong("disk." + read.error().message);
    out.disk = std::move(*read);
    out.disk->name = out.name;
    return {};
}

}  // namespace

bool Options::names_two_sources() const {
    return volume.data_volume.has_value() && volume.persistent_volume_claim.has_value();
}

Result<Options> read_options(const json::Value& body) {
    Options out;
    if (body.is_null()) return out;
    if (!body.is_object()) return wrong("the body must be an object");
    if (const json::Value* name = present(body, "name")) {
        if (!name->is_string()) return wrong("name: must be a string");
        out.name = name->get_string();
        if (out.name.size() > kNameMax) return wrong("name: longer than 1024 characters");
    }
    TRY(out.dry_run, read_dry_run(body));
    if (const json::Value* disk = present(body, "disk")) TRY_DO(read_disk(out, *disk));
    if (const json::Value* source = present(body, "volumeSource")) TRY_DO(read_source(out, *source));
    return out;
}

}  // namespace berth::hotplug
