#include "solo/edge/conmon.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "solo/edge/files.hpp"
#include "solo/edge/mounts.hpp"

namespace berth::solo {
namespace {

constexpr Duration kCallMax = std::chrono::seconds(30);
constexpr Duration kMonitorMax = std::chrono::seconds(5);
constexpr int kCreatorTries = 100;
constexpr int kSyncMax = 60'000;             // milliseconds until the monitor must have spoken
constexpr const char* kLogMax = "16777216";  // bytes; the log starts again when it is full

std::string trimmed(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    return text;
}

/// One line from the monitor. It keeps the other end for life, so that there is no end of file to wait for.
Result<std::string> read_line(int fd) {
    std::string out;
    for (;;) {
        pollfd ready{.fd = fd, .events = POLLIN, .revents = 0};
        const int count = ::poll(&ready, 1, kSyncMax);
        if (count < 0 && errno == EINTR) continue;
        if (count == 0) return fail(ErrorKind::timeout, "the container monitor did not answer within 60 s");
        char next = 0;
        const ssize_t got = ::read(fd, &next, 1);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return fail(ErrorKind::io, "the container monitor ended early");
        if (next == '\n') return out;
        out += next;
    }
}

int read_pid(const std::string& path) {
    const Result<std::string> text = read_file(path);
    return text ? std::atoi(text->c_str()) : 0;
}

/// The monitor of a container, when its number still is the monitor's.
ProcessMark monitor_of(const ContainerDir& dir) {
    const int pid = read_pid(dir.path() + "/conmon.pid");
    const std::string words = read_file("/proc/" + std::to_string(pid) + "/cmdline").value_or("");
    return words.find(dir.id()) == std::string::npos ? ProcessMark{} : process_mark(pid);
}

bool has_word(std::string_view words, std::string_view wanted) {
    while (!words.empty()) {
        const std::size_t end = std::min(words.find('\0'), words.size());
        if (words.substr(0, end) == wanted) return true;
        words.remove_prefix(std::min(end + 1, words.size()));
    }
    return false;
}

/// Processes of conmon and crun that work on a container.
std::vector<ProcessMark> creators_of(const std::string& id) {
    std::vector<ProcessMark> out;
    for (const std::string& name : list_dir("/proc")) {
        const int pid = std::atoi(name.c_str());
        if (pid <= 0) continue;
        const std::string words = read_file("/proc/" + name + "/cmdline").value_or("");
        const std::string program = words.substr(0, words.find('\0'));
        if (!program.ends_with("conmon") && !program.ends_with("crun")) continue;
        if (!has_word(words, id)) continue;
        const ProcessMark mark = process_mark(pid);
        if (is_alive(mark)) out.push_back(mark);
    }
    return out;
}

/// A killed caller leaves its monitor, which goes on to create the container. Each may start another: look until none
/// is left.
void end_creators(const std::string& id) {
    for (int tries = 0; tries < kCreatorTries; ++tries) {
        const std::vector<ProcessMark> creators = creators_of(id);
        if (creators.empty()) return;
        for (const ProcessMark& each : creators) ::kill(each.pid, SIGKILL);
        for (const ProcessMark& each : creators) static_cast<void>(wait_for_end(each, kMonitorMax));
    }
}

bool is_unknown(const std::string& output) {
    return output.find("No such file or directory") != std::string::npos ||
           output.find("does not exist") != std::string::npos;
}

}  // namespace

Result<Conmon> Conmon::find(const DataPaths& paths) {
    Conmon out;
    out.paths_ = paths;
    TRY(out.crun_, find_program({"crun"}, "crun"));
    TRY(out.conmon_, find_program({"conmon"}, "conmon"));
    TRY(const std::vector<MountPoint> mounts, read_mounts());
    out.hidden_ = hybrid_cgroup2_mounts(mounts);
    return out;
}

Result<Conmon::Created> Conmon::create(const ContainerDir& dir) const {
    const std::string id = dir.id();
    TRY_DO(make_dirs(dir.persist(), 0700));
    TRY_DO(make_dirs(dir.node.exits(), 0700));
    TRY_DO(make_dirs(dir.logs(), 0755));
    ::unlink(dir.exit_file().c_str());  // of an earlier try: it would be taken for this one's end

    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno("make a pipe", errno);
    const Fd from(ends[0]);
    Fd to(ends[1]);
    const std::string monitor_pid = dir.path() + "/conmon.pid";
    const Command command{
        .argv =
            {conmon_,
                   "--api-version", "1",
                   "-c", id,
                   "-u", id,
                   "-n", id,
                   "-r", crun_,
                   "--runtime-arg", "--root",
                   "--runtime-arg", paths_.crun_state(),
                   "-b", dir.path(),
                   "-p", dir.path() + "/ctr.pid",
                   "-P", monitor_pid,
                   "-l", "k8s-file:" + dir.log(),
                   "--log-size-max", kLogMax,
                   "--exit-dir", dir.node.exits(),
                   "--persist-dir", dir.persist(),
                   "--socket-dir-path", paths_.sockets(),
                   "--log-level", "error"},
        .env = {"_OCI_SYNCPIPE=" + std::to_string(to.get())},
        .working_dir = dir.path(), // it also leaves a file "oom" where it stands
        .kept_fds = {to.get()},
        .hidden_mounts = hidden_,
    };
    TRY(const Finished finished, run(command, kCallMax));
    to.close();
    const std::string said = trimmed(finished.output);
    const Result<std::string> line = read_line(from.get());
    if (!line) return fail(line.error().kind, line.error().message + (said.empty() ? "" : ": " + said));
    TRY(const json::Value answer, json::parse(*line));
    const std::int64_t pid = json::integer_at(answer, "/data").value_or(-1);
    if (pid <= 0)
        return fail(
            ErrorKind::invalid,
            "create container \"" + dir.name + "\": " + trimmed(std::string(json::text_at(answer, "/message")))
        );
    return Created{.process = process_mark(static_cast<int>(pid)), .monitor = process_mark(read_pid(monitor_pid))};
}

Result<Finished> Conmon::crun(std::vector<std::string> words) const {
    Command command{
        .argv = {crun_, "--root", paths_.crun_state()},
          .hidden_mounts = hidden_
    };
    for (std::string& word : words) command.argv.push_back(std::move(word));
    return run(command, kCallMax);
}

Result<void> Conmon::start(const std::string& id) const {
    TRY(const Finished finished, crun({"start", id}));
    if (finished.exit_code == 0) return {};
    return fail(ErrorKind::io, "start container: " + trimmed(finished.output));
}

bool Conmon::awaits_start(const std::string& id) const { return exists(paths_.crun_state() + "/" + id + "/exec.fifo"); }

Result<std::string> Conmon::status(const std::string& id) const {
    if (!exists(paths_.crun_state() + "/" + id)) return std::string();
    TRY(const Finished finished, crun({"state", id}));
    if (finished.exit_code != 0 && is_unknown(finished.output)) return std::string();
    if (finished.exit_code != 0) return fail(ErrorKind::io, "state of container: " + trimmed(finished.output));
    TRY(const json::Value state, json::parse(finished.output));
    return std::string(json::text_at(state, "/status"));
}

Result<void> Conmon::signal(const std::string& id, const std::string& name) const {
    TRY(const Finished finished, crun({"kill", id, name}));
    if (finished.exit_code == 0 || finished.output.find("No such process") != std::string::npos ||
        is_unknown(finished.output))
        return {};
    return fail(ErrorKind::io, "signal " + name + ": " + trimmed(finished.output));
}

Result<void> Conmon::end(const ContainerDir& dir, Stage stage) const {
    const std::string id = dir.id();
    if (stage == Stage::creating) end_creators(id);
    if (exists(paths_.crun_state() + "/" + id)) {
        TRY(const Finished finished, crun({"delete", "--force", id}));
        if (finished.exit_code != 0 && !is_unknown(finished.output)) {
            return fail(ErrorKind::io, "delete container: " + trimmed(finished.output));
        }
    }
    // The monitor notes the end of what was just killed, and is still in its folder until then.
    static_cast<void>(wait_for_end(monitor_of(dir), kMonitorMax));
    return {};
}

Result<void> Conmon::remove(const ContainerDir& dir, Stage stage) const {
    TRY_DO(end(dir, stage));
    ::unlink((paths_.sockets() + "/" + dir.id()).c_str());
    ::unlink(dir.exit_file().c_str());
    return {};
}

}  // namespace berth::solo
