// See stray_disk.hpp. The commands are QEMU's own (QMP): https://www.qemu.org/docs/master/interop/qemu-qmp-ref.html
#include "launcher/edge/stray_disk.hpp"

#include <libvirt/libvirt-qemu.h>

#include <cstdlib>
#include <optional>
#include <set>

#include "json/value.hpp"
#include "launcher/plan/disks.hpp"
#include "launcher/plan/live.hpp"

namespace berth::launcher {
namespace {

constexpr int kRounds = 50;  // a device ends a moment after QEMU's answer; each round is a question to QEMU

/// What QEMU returns; null when it refuses.
json::Value ask_qemu(virDomainPtr domain, const char* command, json::Object arguments) {
    const json::Value line = json::Object{
        {"execute",   command             },
        {"arguments", std::move(arguments)}
    };
    char* text = nullptr;
    if (virDomainQemuMonitorCommand(domain, json::print(line).c_str(), &text, 0) != 0) return {};
    const Result<json::Value> answer = json::parse(text == nullptr ? "null" : text);
    std::free(text);
    const json::Value* const found = answer ? json::find(*answer, "/return") : nullptr;
    return found == nullptr ? json::Value() : *found;
}

/// The block nodes that QEMU has open for a file or device.
std::vector<std::string> nodes_of(virDomainPtr domain, const std::string& path) {
    std::vector<std::string> out;
    const json::Value all = ask_qemu(
        domain,
        "query-named-block-nodes",
        {
            {"flat", true}
    }
    );
    if (!all.is_array()) return out;
    for (const json::Value& node : all.get_array()) {
        if (json::text_at(node, "/file") == path) out.emplace_back(json::text_at(node, "/node-name"));
    }
    return out;
}

/// Of the devices that a disk is plugged in as. Interfaces have such names too, and are nobody's stray.
bool is_disk(std::string_view type) {
    return type.starts_with("child<virtio-blk") || type == "child<scsi-hd>" || type == "child<scsi-block>";
}

/// Names of the plugged disks that QEMU has, whole or only their files.
std::set<std::string> names_in_qemu(virDomainPtr domain) {
    constexpr std::string_view kAlias = "ua-";
    const std::string folder = std::string(kHotplugDisksDir) + "/";
    std::set<std::string> out;
    const auto add_file = [&](std::string_view path) {
        if (!path.starts_with(folder)) return;
        path.remove_prefix(folder.size());
        if (path.ends_with(".img")) path.remove_suffix(4);
        out.emplace(path);
    };
    const json::Value devices = ask_qemu(
        domain,
        "qom-list",
        {
            {"path", "/machine/peripheral"}
    }
    );
    const json::Value nodes = ask_qemu(
        domain,
        "query-named-block-nodes",
        {
            {"flat", true}
    }
    );
    if (devices.is_array()) {
        for (const json::Value& device : devices.get_array()) {
            const std::string_view id = json::text_at(device, "/name");
            if (id.starts_with(kAlias) && is_disk(json::text_at(device, "/type")))
                out.emplace(id.substr(kAlias.size()));
        }
    }
    if (nodes.is_array()) {
        for (const json::Value& node : nodes.get_array()) add_file(json::text_at(node, "/file"));
    }
    return out;
}

/// What libvirt shows; none: it does not say.
std::optional<LiveDomain> shown(virDomainPtr domain) {
    char* const xml = virDomainGetXMLDesc(domain, 0);
    if (xml == nullptr) return {};
    LiveDomain out = read_live(xml);
    std::free(xml);
    return out;
}

}  // namespace

bool is_duplicate(const Error& error) {
    return error.message.find("Duplicate device ID") != std::string::npos ||
           error.message.find("Duplicate nodes") != std::string::npos;
}

void remove_stray_disk(virDomainPtr domain, const std::string& alias, const std::string& path) {
    ask_qemu(
        domain,
        "device_del",
        {
            {"id", alias}
    }
    );
    for (int round = 0; round < kRounds; ++round) {
        const std::vector<std::string> nodes = nodes_of(domain, path);
        if (nodes.empty()) return;
        // A node that another one or the device still uses is refused, and goes in a later round.
        for (const std::string& node : nodes) {
            ask_qemu(
                domain,
                "blockdev-del",
                {
                    {"node-name", node}
            }
            );
        }
    }
}

std::vector<std::string> remove_stray_disks(virDomainPtr domain) {
    // A command to QEMU waits for a call that is under way, the XML does not. So what QEMU has is asked first: a disk
    // that was attached meanwhile is then in the XML.
    std::set<std::string> strays = names_in_qemu(domain);
    if (strays.empty()) return {};
    const std::optional<LiveDomain> live = shown(domain);
    if (!live) return {strays.begin(), strays.end()};
    for (const LiveDisk& disk : live->disks) strays.erase(disk.name);
    for (const std::string& name : strays) {
        const std::string path = std::string(kHotplugDisksDir) + "/" + name;
        remove_stray_disk(domain, "ua-" + name, path);
        remove_stray_disk(domain, "ua-" + name, path + ".img");
    }
    if (strays.empty()) return {};
    const std::set<std::string> left = names_in_qemu(domain);
    std::erase_if(strays, [&](const std::string& name) { return !left.contains(name); });
    return {strays.begin(), strays.end()};
}

}  // namespace berth::launcher
