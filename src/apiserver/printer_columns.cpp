#include "apiserver/printer_columns.hpp"

namespace berth::apiserver {
namespace {

constexpr PrinterColumn kAge{"Age", "date", ".metadata.creationTimestamp", "How long the object has existed."};
constexpr PrinterColumn kPhase{"Phase", "string", ".status.phase", "Where the object is in its life."};

constexpr PrinterColumn kMachine[] = {
    kAge,
    {"Status", "string", ".status.printableStatus",                       "What the machine is doing, in one word."    },
    {"Ready",  "string", ".status.conditions[?(@.type=='Ready')].status", "Whether the guest runs and its probes pass."},
};

constexpr PrinterColumn kInstance[] = {
    kAge,
    kPhase,
    {"IP", "string", ".status.interfaces[0].ipAddress", "The first address of the guest."},
    {"NodeName", "string", ".status.nodeName", "The node the guest runs on."},
    {"Ready", "string", ".status.conditions[?(@.type=='Ready')].status", "Whether the guest runs and its probes pass."},
    {"Live-Migratable",
      "string", ".status.conditions[?(@.type=='LiveMigratable')].status",
      "Whether it can move while it runs.", 1},
    {"Paused", "string", ".status.conditions[?(@.type=='Paused')].status", "Whether its CPUs are stopped.", 1},
};

constexpr PrinterColumn kAgeAndPhase[] = {kAge, kPhase};

constexpr PrinterColumn kDataVolume[] = {
    kPhase,
    {"Progress", "string",  ".status.progress",     "How much of the data is in place."      },
    {"Restarts", "integer", ".status.restartCount", "How often the worker was started again."},
    kAge,
};

constexpr PrinterColumn kAgeOnly[] = {kAge};

constexpr struct {
    std::string_view plural;
    std::span<const PrinterColumn> columns;
} kColumns[] = {
    {"virtualmachines",         kMachine    },
    {"virtualmachineinstances", kInstance   },
    {"kubevirts",               kAgeAndPhase},
    {"datavolumes",             kDataVolume },
    {"cdis",                    kAgeAndPhase},
};

}  // namespace

std::span<const PrinterColumn> printer_columns(const api::Kind& kind) {
    for (const auto& row : kColumns) {
        if (row.plural == kind.plural) return row.columns;
    }
    return kAgeOnly;
}

}  // namespace berth::apiserver
