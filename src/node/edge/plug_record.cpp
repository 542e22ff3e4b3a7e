#include "node/edge/plug_record.hpp"

#include <algorithm>

#include "base/hash.hpp"
#include "json/value.hpp"

namespace berth::node {
namespace {

std::string checksum_of(const json::Value& record) { return std::to_string(fnv1a64(json::print(record))); }

std::uint64_t number_at(const json::Value& value, std::string_view pointer) {
    return static_cast<std::uint64_t>(json::integer_at(value, pointer).value_or(0));
}

Uid uid_at(const json::Value& value, std::string_view pointer) { return {std::string(json::text_at(value, pointer))}; }

json::Value print(const PlugEntry& entry) {
    return json::Object{
        {"targetFile",   entry.target                           },
        {"volume",       entry.plug.volume                      },
        {"claimUID",     entry.plug.claim.value                 },
        {"attachPodUID", entry.plug.attachment_pod.value        },
        {"block",        entry.plug.block                       },
        {"shared",       entry.plug.shared                      },
        {"device",       static_cast<std::int64_t>(entry.device)},
        {"inode",        static_cast<std::int64_t>(entry.inode) },
    };
}

PlugEntry parse_entry(const json::Value& value) {
    PlugEntry out{.target = std::string(json::text_at(value, "/targetFile"))};
    out.plug.volume = json::text_at(value, "/volume");
    out.plug.claim = uid_at(value, "/claimUID");
    out.plug.attachment_pod = uid_at(value, "/attachPodUID");
    out.plug.block = json::bool_at(value, "/block");
    out.plug.shared = json::bool_at(value, "/shared");
    out.device = number_at(value, "/device");
    out.inode = number_at(value, "/inode");
    return out;
}

}  // namespace

PlugEntry* PlugRecord::find(std::string_view volume) {
    const auto it = std::ranges::find_if(entries, [&](const PlugEntry& entry) { return entry.plug.volume == volume; });
    return it == entries.end() ? nullptr : &*it;
}

std::string print(const PlugRecord& record) {
    json::Array entries;
    for (const PlugEntry& entry : record.entries) entries.push_back(print(entry));
    json::Value out = json::Object{
        {"mountTargetEntries", std::move(entries)            },
        {"usesSafePaths",      true                          },
        {"vmiUID",             record.host.vmi.value         },
        {"podUID",             record.host.launcher_pod.value},
        {"bootID",             record.boot                   },
    };
    const std::string checksum = checksum_of(out);
    out.get_object()["checksum"] = checksum;
    return json::print(out);
}

Result<PlugRecord> parse_record(std::string_view text) {
    TRY(json::Value value, json::parse(text));
    const std::string checksum(json::text_at(value, "/checksum"));
    json::erase(value, "/checksum");
    const json::Value* const entries = json::find(value, "/mountTargetEntries");
    if (checksum != checksum_of(value) || entries == nullptr || !entries->is_array())
        return fail(ErrorKind::invalid, "the record of plugged volumes is damaged");
    PlugRecord out{
        .host = {uid_at(value, "/vmiUID"), uid_at(value, "/podUID")}
    };
    out.boot = json::text_at(value, "/bootID");
    for (const json::Value& entry : entries->get_array()) out.entries.push_back(parse_entry(entry));
    return out;
}

}  // namespace berth::node
