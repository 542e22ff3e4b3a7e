// `berth explain vm X`: the chain VM → DataVolume → claim → volume → pod → node → guest, and who must act next.
// A pure function of what the API shows, so that it says the same in solo mode and on any cluster.
#pragma once

#include "api/kubevirt.hpp"

namespace berth::explain {

struct View {
    std::optional<api::VirtualMachine> vm;  ///< none: a machine instance without a VM
    std::optional<api::VirtualMachineInstance> vmi;
    std::vector<api::DataVolume> data_volumes;
    std::vector<api::PersistentVolumeClaim> claims;
    std::vector<api::PersistentVolume> volumes;
    std::vector<api::Pod> pods;  ///< of the machine, and the workers that fill its disks
    std::vector<api::Node> nodes;
    std::map<std::string, std::string> last_warnings;  ///< by "kind/name": the newest Warning about it
    Timestamp now;
};

enum class Mark { done, waits, next, failed };  ///< next: the one that must act now

struct Line {
    int depth = 0;
    std::string object;  ///< "dv/db-root"
    std::string state;   ///< "WaitForFirstConsumer"
    Mark mark = Mark::done;
    std::string why;     ///< who must act and why; "" when done
    std::optional<Timestamp> since;
    bool operator==(const Line&) const = default;
};

/// The chain from the machine down to the guest. At most one line has Mark::next.
std::vector<Line> chain(const View& view);

/// The chain as text for a terminal: one line each, marks in front, ages behind.
std::string print(const std::vector<Line>& lines, Timestamp now);
json::Value to_json(const std::vector<Line>& lines);

}  // namespace berth::explain
