#include "cli/volume_request.hpp"

#include <initializer_list>

namespace berth::cli {
namespace {

constexpr std::size_t kNameMax = 63;  // of a DNS label, which names of disks are

Result<void> one_of(const std::string& flag, const std::string& value, std::initializer_list<const char*> allowed) {
    std::string list;
    for (const char* const word : allowed) {
        if (value == word) return {};
        list += (list.empty() ? "" : ", ") + std::string(word);
    }
    return fail(ErrorKind::invalid, flag + " \"" + value + "\" is not supported: use " + list);
}

void add_dry_run(json::Object& body, const VolumeFlags& flags) {
    if (flags.dry_run) body["dryRun"] = json::Array{"All"};
}

}  // namespace

std::string disk_name_of(const VolumeFlags& flags) { return flags.disk_name.empty() ? flags.volume : flags.disk_name; }

Result<void> check(const VolumeFlags& flags) {
    TRY_DO(one_of("--disk-type", flags.disk_type, {"disk", "lun"}));
    if (flags.disk_type == "lun") {
        TRY_DO(one_of("--bus of a lun", flags.bus, {"scsi"}));
    } else {
        TRY_DO(one_of("--bus", flags.bus, {"scsi", "virtio"}));
    }
    if (!flags.cache.empty()) TRY_DO(one_of("--cache", flags.cache, {"none", "writethrough", "writeback"}));
    const std::string name = disk_name_of(flags);
    if (name.size() <= kNameMax) return {};
    const std::string remedy = flags.disk_name.empty() ? "give a shorter name with --disk-name" : "shorten --disk-name";
    return fail(
        ErrorKind::invalid,
        "the disk's name \"" + name + "\" has " + std::to_string(name.size()) + " characters and may have " +
            std::to_string(kNameMax) + ": " + remedy
    );
}

json::Value add_body(const VolumeFlags& flags, DiskSource source) {
    const std::string name = disk_name_of(flags);
    json::Object target{
        {"bus", flags.bus}
    };
    json::Object disk{
        {"name",   name                                      },
        {"serial", flags.serial.empty() ? name : flags.serial}
    };
    disk[flags.disk_type] = std::move(target);
    if (!flags.cache.empty()) disk["cache"] = flags.cache;
    const bool is_claim = source == DiskSource::claim;
    json::Object named{
        {is_claim ? "claimName" : "name", flags.volume},
        {"hotpluggable",                  true        }
    };
    json::Object source_of;
    source_of[is_claim ? "persistentVolumeClaim" : "dataVolume"] = std::move(named);
    json::Object body;
    body["name"] = name;
    body["disk"] = std::move(disk);
    body["volumeSource"] = std::move(source_of);
    add_dry_run(body, flags);
    return json::Value(std::move(body));
}

json::Value remove_body(const VolumeFlags& flags) {
    json::Object body{
        {"name", flags.volume}
    };
    add_dry_run(body, flags);
    return json::Value(std::move(body));
}

}  // namespace berth::cli
