// What is written down about a container before each step is taken, and what the machine says about it afterwards.
// Together they answer for every container, whoever was killed when.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "json/value.hpp"
#include "solo/edge/data_dir.hpp"
#include "solo/edge/process.hpp"
#include "solo/runtime.hpp"

namespace berth::solo {

enum class Stage {
    creating,  ///< the runtime was or will be asked to create it
    started,   ///< it was created; the runtime was or will be asked to start it
    exited,    ///< it has ended; the record says how
};

struct ContainerRecord {
    Uid pod_uid;
    std::string name;
    std::int64_t attempt = 0;
    std::string id;
    Stage stage = Stage::creating;
    std::string boot;  ///< the machine's boot that it belongs to: no process outlives one
    ProcessMark process;
    ProcessMark monitor;
    bool message_from_log = false;
    std::optional<Timestamp> started_at;
    std::optional<Timestamp> finished_at;
    int exit_code = 0;
    bool oom_killed = false;
    std::string message;
    bool operator==(const ContainerRecord&) const = default;
};

json::Value to_json(const ContainerRecord& record);
Result<ContainerRecord> container_record_from(const json::Value& document);

/// Places of one container; a plain value.
struct ContainerDir {
    NodeDir node;
    Uid pod;
    std::string name;
    std::int64_t attempt = 0;

    [[nodiscard]] std::string id() const { return pod.value + "-" + name + "-" + std::to_string(attempt); }
    [[nodiscard]] std::string path() const {
        return node.pod(pod) + "/containers/" + name + "-" + std::to_string(attempt);
    }
    [[nodiscard]] std::string rootfs() const { return path() + "/rootfs"; }
    [[nodiscard]] std::string persist() const { return path() + "/persist"; }
    [[nodiscard]] std::string record() const { return path() + "/record.json"; }
    [[nodiscard]] std::string termination_file() const { return path() + "/termination-log"; }
    [[nodiscard]] std::string logs() const { return node.pod(pod) + "/logs/" + name; }
    [[nodiscard]] std::string log() const { return logs() + "/" + std::to_string(attempt) + ".log"; }
    [[nodiscard]] std::string exit_file() const { return node.exits() + "/" + id(); }
};

ContainerDir container_dir_of(const NodeDir& node, const ContainerRecord& record);

Result<void> write_record(const ContainerDir& dir, const ContainerRecord& record);
/// Errors  not_found; invalid
Result<ContainerRecord> read_record(const ContainerDir& dir);

/// Records of a node's containers, in order of pod, name and attempt. Those that cannot be read are left out.
std::vector<ContainerRecord> read_records(const NodeDir& node);

std::vector<ContainerRecord> read_records_of(const NodeDir& node, const Uid& pod);

/// The record as it is now: when the container has ended since, says how, writes that down and returns it.
/// Blocks. `now` is used only where the machine does not know when it ended.
ContainerRecord look_at(const ContainerDir& dir, ContainerRecord record, const std::string& boot, Timestamp now);

/// The last lines of a log in the CRI format, at most 80 and 2048 bytes, as plain text (FallbackToLogsOnError).
std::string log_tail(std::string_view log);

ContainerInfo info_of(const ContainerRecord& record);

}  // namespace berth::solo
