#include "image/worker.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "datavolume/names.hpp"
#include "image/import.hpp"
#include "json/value.hpp"

namespace berth::image {
namespace {

using datavolume::WorkerExit;

constexpr std::size_t kTerminationMax = 4096;

// Into the file that is there: the runtime has mounted it, so it cannot be replaced.
void leave_message(const std::string& path, std::string text) {
    if (text.size() > kTerminationMax) text.resize(kTerminationMax);
    std::fprintf(stderr, "%s\n", text.c_str());
    const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (fd.is_open()) static_cast<void>(write_at(fd.get(), std::as_bytes(std::span(text)), 0, path));
}

/// Writes the figure for whoever shows it, less than once a second: each becomes a write of the DataVolume. It never
/// goes down.
class ProgressFile {
public:
    static constexpr std::chrono::milliseconds kPause{1100};

    explicit ProgressFile(std::string directory) : path_(std::move(directory)) {
        if (!path_.empty()) path_ += "/progress";
    }
    void operator()(double percent) {
        const auto now = std::chrono::steady_clock::now();
        if (path_.empty() || percent <= last_ || now - written_at_ < kPause) return;
        last_ = percent;
        written_at_ = now;
        char text[16];
        // "100.0%" belongs to success alone.
        std::snprintf(text, sizeof text, "%.2f%%", std::min(percent, 99.99));
        const std::string temporary = path_ + ".new";
        const Fd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
        if (!fd.is_open() || !write_at(fd.get(), std::as_bytes(std::span(std::string_view(text))), 0, temporary))
            return;
        ::rename(temporary.c_str(), path_.c_str());
    }

private:
    std::string path_;
    double last_ = -1;
    std::chrono::steady_clock::time_point written_at_;
};

int end(const Job& job, WorkerExit code, std::string message) {
    leave_message(job.termination_log, std::move(message));
    return static_cast<int>(code);
}

int end_with(const Job& job, const Error& error) {
    const bool has_prefix = error.message.starts_with("Unable to ");
    return end(
        job,
        is_permanent(error) ? WorkerExit::permanent : WorkerExit::transient,
        has_prefix ? error.message : "Unable to process data: " + error.message
    );
}

}  // namespace

int run_import(const Job& job) {
    ProgressFile file(job.state_dir);
    const Result<Imported> done = import_disk(job, [&](double percent) { file(percent); });
    if (!done) return end_with(job, done.error());
    json::Object message{
        {"preallocationApplied", done->completion.is_preallocated},
        {"message",              "Import Complete"               }
    };
    return end(job, WorkerExit::success, json::print(json::Value(std::move(message))));
}

int worker_main(int argc, const char* const* argv) {
    if (argc != 2 || std::string_view(argv[0]) != "worker" || std::string_view(argv[1]) != "import") {
        std::fprintf(stderr, "usage: berth worker import\n");
        return static_cast<int>(WorkerExit::permanent);
    }
    const Lookup environment = [](const std::string& name) -> std::optional<std::string> {
        const char* value = std::getenv(name.c_str());
        return value == nullptr ? std::nullopt : std::optional<std::string>(value);
    };
    const Result<Job> job = read_job(environment);
    if (!job) return end_with(Job{}, job.error());
    return run_import(*job);
}

}  // namespace berth::image
