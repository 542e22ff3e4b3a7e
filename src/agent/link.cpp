#include "agent/link.hpp"

namespace berth::agent {

json::Value to_json(const Report& report) {
    json::Array disks;
    for (const DiskReport& disk : report.disks) {
        disks.push_back(json::Object{
            {"name",   disk.name  },
            {"target", disk.target},
            {"size",   disk.size  }
        });
    }
    json::Array detaching;
    for (const Detaching& disk : report.detaching) {
        detaching.push_back(json::Object{
            {"name",     disk.name                   },
            {"since",    to_rfc3339_micro(disk.since)},
            {"requests", disk.requests               }
        });
    }
    json::Array errors;
    for (const DiskError& disk : report.disk_errors) {
        errors.push_back(json::Object{
            {"name",    disk.name   },
            {"message", disk.message}
        });
    }
    json::Array told(report.told.begin(), report.told.end());
    return json::Object{
        {"v",           1                   },
        {"op",          "report"            },
        {"state",       report.state        },
        {"reason",      report.reason       },
        {"error",       report.error        },
        {"disks",       std::move(disks)    },
        {"detaching",   std::move(detaching)},
        {"diskErrors",  std::move(errors)   },
        {"told",        std::move(told)     },
        {"syncs",       report.syncs        },
        {"machineType", report.machine_type },
        {"accelerator", report.accelerator  },
    };
}

Result<Report> report_from(const json::Value& line) {
    if (json::integer_at(line, "/v") != 1 || json::text_at(line, "/op") != "report") {
        return fail(ErrorKind::invalid, "not a report of protocol version 1: " + json::print(line));
    }
    Report out;
    out.state = json::text_at(line, "/state");
    out.reason = json::text_at(line, "/reason");
    out.error = json::text_at(line, "/error");
    out.machine_type = json::text_at(line, "/machineType");
    out.accelerator = json::text_at(line, "/accelerator");
    out.syncs = json::integer_at(line, "/syncs").value_or(0);
    for (const json::Value& disk : json::list_at(line, "/disks")) {
        out.disks.push_back({
            std::string(json::text_at(disk, "/name")),
            std::string(json::text_at(disk, "/target")),
            json::integer_at(disk, "/size").value_or(0),
        });
    }
    for (const json::Value& disk : json::list_at(line, "/detaching")) {
        out.detaching.push_back({
            std::string(json::text_at(disk, "/name")),
            from_rfc3339(json::text_at(disk, "/since")).value_or(Timestamp{}),
            json::integer_at(disk, "/requests").value_or(0),
        });
    }
    for (const json::Value& disk : json::list_at(line, "/diskErrors")) {
        out.disk_errors.push_back(
            {std::string(json::text_at(disk, "/name")), std::string(json::text_at(disk, "/message"))}
        );
    }
    for (const json::Value& name : json::list_at(line, "/told")) {
        if (name.is_string()) out.told.emplace_back(name.get_string());
    }
    return out;
}

json::Value to_json(const VolumePath& path) {
    return json::Object{
        {"name",           path.name            },
        {"path",           path.path            },
        {"block",          path.block           },
        {"format",         path.format          },
        {"readOnly",       path.read_only       },
        {"createIfAbsent", path.create_if_absent},
        {"size",           path.size            },
    };
}

Result<VolumePath> volume_path_from(const json::Value& value) {
    VolumePath out;
    out.name = json::text_at(value, "/name");
    out.path = json::text_at(value, "/path");
    out.block = json::bool_at(value, "/block");
    out.format = json::text_at(value, "/format");
    out.read_only = json::bool_at(value, "/readOnly");
    out.create_if_absent = json::bool_at(value, "/createIfAbsent");
    out.size = json::integer_at(value, "/size").value_or(0);
    if (out.name.empty() || out.path.empty())
        return fail(ErrorKind::invalid, "a volume needs a name and a path: " + json::print(value));
    return out;
}

}  // namespace berth::agent
