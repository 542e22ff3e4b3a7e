#include "solo/edge/container_record.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>

#include "solo/edge/files.hpp"

namespace berth::solo {
namespace {

constexpr std::size_t kMessageMax = 4096;
constexpr std::size_t kLogTailBytes = 2048;
constexpr int kLogTailLines = 80;
constexpr int kKilled = 137;

std::string_view to_string(Stage stage) {
    switch (stage) {
        case Stage::creating: return "creating";
        case Stage::started: return "started";
        case Stage::exited: return "exited";
    }
    return "";
}

json::Value mark_json(const ProcessMark& mark) {
    json::Object out;
    out["pid"] = mark.pid;
    out["startTicks"] = mark.start_ticks;
    return json::Value(std::move(out));
}

ProcessMark mark_from(const json::Value& root, const std::string& pointer) {
    return {
        .pid = static_cast<int>(json::integer_at(root, pointer + "/pid").value_or(0)),
        .start_ticks = json::integer_at(root, pointer + "/startTicks").value_or(0),
    };
}

void set_time(json::Object& out, std::string_view key, const std::optional<Timestamp>& at) {
    if (at) out[key] = to_rfc3339_micro(*at);
}

/// The exit code that the monitor left; none when it has left none.
std::optional<int> exit_code_of(const std::string& file) {
    const Result<std::string> text = read_file(file);
    int code = 0;
    if (!text || text->empty()) return std::nullopt;
    if (std::from_chars(text->data(), text->data() + text->size(), code).ec != std::errc()) return std::nullopt;
    return code;
}

Timestamp changed_at(const std::string& path, Timestamp otherwise) {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) return otherwise;
    return Timestamp(
        std::chrono::seconds(status.st_mtim.tv_sec) + std::chrono::microseconds(status.st_mtim.tv_nsec / 1000)
    );
}

void add_message(const ContainerDir& dir, ContainerRecord& record) {
    record.message = read_file(dir.termination_file()).value_or("").substr(0, kMessageMax);
    if (!record.message.empty() || !record.message_from_log || record.exit_code == 0) return;
    record.message = log_tail(read_file(dir.log()).value_or(""));
}

}  // namespace

json::Value to_json(const ContainerRecord& record) {
    json::Object out;
    out["podUid"] = record.pod_uid.value;
    out["name"] = record.name;
    out["attempt"] = record.attempt;
    out["id"] = record.id;
    out["stage"] = to_string(record.stage);
    out["boot"] = record.boot;
    out["process"] = mark_json(record.process);
    out["monitor"] = mark_json(record.monitor);
    out["messageFromLog"] = record.message_from_log;
    set_time(out, "startedAt", record.started_at);
    set_time(out, "finishedAt", record.finished_at);
    out["exitCode"] = record.exit_code;
    out["oomKilled"] = record.oom_killed;
    out["message"] = record.message;
    return json::Value(std::move(out));
}

Result<ContainerRecord> container_record_from(const json::Value& document) {
    ContainerRecord out;
    out.pod_uid.value = json::text_at(document, "/podUid");
    out.name = json::text_at(document, "/name");
    out.attempt = json::integer_at(document, "/attempt").value_or(-1);
    out.id = json::text_at(document, "/id");
    const std::string_view stage = json::text_at(document, "/stage");
    bool has_stage = false;
    for (const Stage each : {Stage::creating, Stage::started, Stage::exited}) {
        if (stage != to_string(each)) continue;
        out.stage = each;
        has_stage = true;
    }
    if (out.id.empty() || out.attempt < 0 || !has_stage) return fail(ErrorKind::invalid, "not a container's record");
    out.boot = json::text_at(document, "/boot");
    out.process = mark_from(document, "/process");
    out.monitor = mark_from(document, "/monitor");
    out.message_from_log = json::bool_at(document, "/messageFromLog");
    out.started_at = from_rfc3339(json::text_at(document, "/startedAt"));
    out.finished_at = from_rfc3339(json::text_at(document, "/finishedAt"));
    out.exit_code = static_cast<int>(json::integer_at(document, "/exitCode").value_or(0));
    out.oom_killed = json::bool_at(document, "/oomKilled");
    out.message = json::text_at(document, "/message");
    return out;
}

ContainerDir container_dir_of(const NodeDir& node, const ContainerRecord& record) {
    return {.node = node, .pod = record.pod_uid, .name = record.name, .attempt = record.attempt};
}

Result<void> write_record(const ContainerDir& dir, const ContainerRecord& record) {
    return write_durably(dir.record(), json::print(to_json(record)) + "\n", 0600);
}

Result<ContainerRecord> read_record(const ContainerDir& dir) {
    TRY(const std::string text, read_file(dir.record()));
    TRY(const json::Value document, json::parse(text));
    return container_record_from(document);
}

std::vector<ContainerRecord> read_records_of(const NodeDir& node, const Uid& pod) {
    std::vector<ContainerRecord> out;
    const std::string folder = node.pod(pod) + "/containers";
    for (const std::string& name : list_dir(folder)) {
        const Result<std::string> text = read_file(folder + "/" + name + "/record.json");
        const Result<json::Value> document = json::parse(text.value_or(""));
        if (!document) continue;
        Result<ContainerRecord> record = container_record_from(*document);
        if (record && record->pod_uid == pod) out.push_back(std::move(*record));
    }
    std::ranges::sort(out, {}, [](const ContainerRecord& each) { return std::tie(each.name, each.attempt); });
    return out;
}

std::vector<ContainerRecord> read_records(const NodeDir& node) {
    std::vector<ContainerRecord> out;
    for (const std::string& pod : list_dir(node.pods())) {
        for (ContainerRecord& record : read_records_of(node, Uid{pod})) out.push_back(std::move(record));
    }
    return out;
}

ContainerRecord look_at(const ContainerDir& dir, ContainerRecord record, const std::string& boot, Timestamp now) {
    if (record.stage != Stage::started) return record;
    const std::optional<int> code = exit_code_of(dir.exit_file());
    const bool is_of_this_boot = record.boot == boot;
    if (!code && is_of_this_boot) {
        if (is_alive(record.process)) return record;
        // The monitor is about to say how it ended. Without one nobody can, as after a kill of the monitor.
        if (is_alive(record.monitor)) return record;
    }
    record.stage = Stage::exited;
    // Read again: the monitor may have written it and ended between the two looks.
    record.exit_code = code ? *code : exit_code_of(dir.exit_file()).value_or(kKilled);
    record.finished_at = changed_at(dir.exit_file(), now);
    record.oom_killed = exists(dir.persist() + "/oom");
    add_message(dir, record);
    // Not written: the next look comes to the same answer.
    static_cast<void>(write_record(dir, record));
    return record;
}

std::string log_tail(std::string_view log) {
    std::vector<std::string> lines;
    std::string open_line;
    while (!log.empty()) {
        const std::size_t end = std::min(log.find('\n'), log.size());
        std::string_view line = log.substr(0, end);
        log.remove_prefix(std::min(end + 1, log.size()));
        // "<time> stdout F text"; P is a part of a line that goes on.
        const std::size_t stream = line.find(' ');
        const std::size_t tag = stream == std::string_view::npos ? stream : line.find(' ', stream + 1);
        if (tag == std::string_view::npos || tag + 2 > line.size()) continue;
        const bool is_whole = line[tag + 1] == 'F';
        open_line += line.substr(std::min(tag + 3, line.size()));
        if (!is_whole) continue;
        lines.push_back(std::move(open_line));
        open_line.clear();
    }
    if (!open_line.empty()) lines.push_back(std::move(open_line));
    std::string out;
    const std::size_t first = lines.size() > kLogTailLines ? lines.size() - kLogTailLines : 0;
    for (std::size_t i = first; i < lines.size(); ++i) out += lines[i] + "\n";
    if (out.size() > kLogTailBytes) out = out.substr(out.size() - kLogTailBytes);
    return out;
}

ContainerInfo info_of(const ContainerRecord& record) {
    ContainerInfo out;
    out.pod_uid = record.pod_uid;
    out.name = record.name;
    out.attempt = record.attempt;
    out.id = record.id;
    switch (record.stage) {
        case Stage::creating: out.phase = ContainerPhase::created; break;
        case Stage::started: out.phase = ContainerPhase::running; break;
        case Stage::exited: out.phase = ContainerPhase::exited; break;
    }
    out.pid = record.stage == Stage::started ? record.process.pid : 0;
    out.started_at = record.started_at;
    out.finished_at = record.finished_at;
    out.exit_code = record.exit_code;
    out.oom_killed = record.oom_killed;
    out.termination_message = record.message;
    return out;
}

}  // namespace berth::solo
