// See stray_disk.hpp. The commands are QEMU's own (QMP): https://www.qemu.org/docs/master/interop/qemu-qmp-ref.html
#include "launcher/edge/stray_disk.hpp"

#include <libvirt/libvirt-qemu.h>

#include <cstdlib>
#include <vector>

#include "json/value.hpp"

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

}  // namespace berth::launcher
