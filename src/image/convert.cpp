#include "image/convert.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>

#include "json/value.hpp"

namespace berth::image {
namespace {

using namespace std::chrono_literals;

constexpr auto kStartTimeout = 15s;
constexpr auto kInfoTimeout = 30s;
constexpr std::int64_t kInfoMemory = std::int64_t{1} << 30;
constexpr std::int64_t kInfoCpuSeconds = 30;
constexpr std::int64_t kConvertMemory = std::int64_t{4} << 30;

std::string described(Format format, json::Object file) {
    json::Object out{
        {"driver", driver_of(format)},
        {"file",   std::move(file)  }
    };
    // No backing file is ever opened, whatever the header says by now.
    if (format == Format::qcow2 || format == Format::vmdk) out["backing"] = nullptr;
    return "json:" + json::print(json::Value(std::move(out)));
}

// Waits until the socket is there, or the server has ended.
bool comes_up(Background& server, const std::string& directory, const std::string& socket) {
    const Fd watch(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    ::inotify_add_watch(watch.get(), directory.c_str(), IN_CREATE | IN_MOVED_TO);
    const auto until = std::chrono::steady_clock::now() + kStartTimeout;
    struct stat found = {};
    while (::stat(socket.c_str(), &found) != 0) {
        if (!server.is_running() || std::chrono::steady_clock::now() > until) return false;
        pollfd fds[1] = {
            {watch.get(), POLLIN, 0}
        };
        ::poll(fds, 1, 50);
        char events[4096];
        while (::read(watch.get(), events, sizeof events) > 0) {
        }
    }
    return true;
}

Result<void> write_secret(const std::string& path, std::string_view text) {
    const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!fd.is_open()) return std::unexpected(system_error("create " + path, errno));
    return write_at(fd.get(), std::as_bytes(std::span(text)), 0, path);
}

// What stands on a command line can be read by others on the node: secrets go through files.
Result<std::vector<std::string>> credentials(const Job& job, const Remote& remote, const std::string& directory) {
    std::vector<std::string> out;
    if (!remote.is_origin) return out;
    if (!job.user.empty()) {
        TRY_DO(write_secret(directory + "/password", job.password));
        out.push_back("user=" + job.user);
        out.push_back("password=+" + directory + "/password");
    }
    std::string headers;
    for (const auto* list : {&job.headers, &job.secret_headers}) {
        for (const std::string& line : *list) headers += line + "\n";
    }
    if (!headers.empty()) {
        TRY_DO(write_secret(directory + "/headers", headers));
        out.push_back("header-script=cat '" + directory + "/headers'");
    }
    return out;
}

std::string text_after(const std::string& text, const std::string& otherwise) {
    return text.empty() ? otherwise : text;
}

// "    (12.34/100%)": the newest figure of a piece of output.
void read_percent(std::string_view text, const Progress& progress) {
    const auto end = text.rfind("/100%");
    const auto begin = end == std::string_view::npos ? end : text.rfind('(', end);
    if (begin == std::string_view::npos || !progress) return;
    progress(std::strtod(std::string(text.substr(begin + 1, end - begin - 1)).c_str(), nullptr));
}

}  // namespace

Result<RemoteDisk> RemoteDisk::open(
    const Job& job, const Remote& remote, const std::string& trust_anchors, const std::string& directory
) {
    std::string own = directory + "/nbd-XXXXXX";
    if (::mkdtemp(own.data()) == nullptr)
        return std::unexpected(system_error("create a directory in " + directory, errno));
    const std::string socket = own + "/nbd.sock";
    Command command;
    command.argv = {
        "nbdkit", "--foreground", "--readonly", "--exit-with-parent", "--unix", socket, "--filter=retry", "curl"
    };
    auto& argv = command.argv;
    argv.push_back("retries=3");
    argv.push_back("retry-delay=1");
    argv.push_back("retry-exponential=no");
    argv.push_back("url=" + remote.url);
    argv.push_back("protocols=http,https");
    argv.push_back("followlocation=false");
    argv.push_back("timeout=" + std::to_string(job.stall_timeout.count()));
    if (job.trusts_any_certificate) argv.push_back("sslverify=false");
    if (remote.url.starts_with("https:") && !trust_anchors.empty()) {
        TRY_DO(write_secret(own + "/ca.pem", trust_anchors));
        argv.push_back("cainfo=" + own + "/ca.pem");
    }
    TRY(const std::vector<std::string> secrets, credentials(job, remote, own));
    argv.insert(argv.end(), secrets.begin(), secrets.end());
    TRY(Background server, Background::start(command));
    RemoteDisk out(std::move(server), own, socket);
    if (!comes_up(out.server_, own, socket)) {
        return fail(ErrorKind::unavailable, "nbdkit did not start: " + text_after(out.errors(), "no reason given"));
    }
    return out;
}

RemoteDisk::~RemoteDisk() {
    if (directory_.empty()) return;
    for (const char* name : {"/nbd.sock", "/password", "/headers", "/ca.pem"}) remove_file(directory_ + name);
    ::rmdir(directory_.c_str());
}

std::string file_image(Format format, const std::string& path) {
    return described(
        format,
        {
            {"driver",   "file"},
            {"filename", path  },
            {"locking",  "off" }
    }
    );
}

std::string nbd_image(Format format, const std::string& socket) {
    return described(
        format,
        {
            {"driver", "nbd"                                           },
            {"server", json::Object{{"type", "unix"}, {"path", socket}}}
    }
    );
}

Result<Bytes> check_image(Format format, const std::string& image, const Target& target) {
    Command command{
        .argv = {"qemu-img", "info", "--output=json", image}
    };
    command.silence_max = kInfoTimeout;
    command.memory_max = kInfoMemory;
    command.cpu_seconds_max = kInfoCpuSeconds;
    TRY(const Ended ended, run(command));
    if (ended.exit_code != 0)
        return fail(
            ErrorKind::invalid, "invalid format: " + text_after(ended.errors, "qemu-img cannot read the image")
        );
    const auto info = json::parse(ended.output);
    if (!info) return fail(ErrorKind::io, "qemu-img said nothing about the image that can be read");
    if (json::text_at(*info, "/format") != driver_of(format)) {
        return fail(
            ErrorKind::invalid, "invalid format " + std::string(json::text_at(*info, "/format")) + " for the image"
        );
    }
    for (const char* at : {"/backing-filename", "/full-backing-filename", "/format-specific/data/data-file"}) {
        const std::string_view other = json::text_at(*info, at);
        if (other.empty()) continue;
        return fail(
            ErrorKind::invalid,
            "the image is invalid because it has invalid backing file " + std::string(other) +
                ": flatten it with qemu-img convert"
        );
    }
    if (json::bool_at(*info, "/encrypted"))
        return fail(ErrorKind::invalid, "the image is encrypted: decrypt it with qemu-img convert");
    const Bytes size{json::integer_at(*info, "/virtual-size").value_or(0)};
    if (const auto refusal = target.refusal_of(size)) return std::unexpected(*refusal);
    return size;
}

Result<void> convert_image(const std::string& image, const Target& target, const Job& job, const Progress& progress) {
    Command command;
    command.argv = {"qemu-img", "convert", "-p", "-t", "writeback", "-m", "16", "-W", "-O", "raw"};
    command.silence_max = job.stall_timeout;
    command.memory_max = kConvertMemory;
    command.on_output = [&](std::string_view text) { read_percent(text, progress); };
    auto& argv = command.argv;
    if (target.is_block()) {
        argv.insert(argv.end(), {"-n"});
        if (job.preallocates) argv.insert(argv.end(), {"-S", "0"});
        if (target.reads_as_zero() && !job.preallocates) argv.push_back("--target-is-zero");
    } else if (job.preallocates) {
        argv.insert(argv.end(), {"-o", "preallocation=falloc"});
    }
    argv.insert(argv.end(), {image, target.path()});
    TRY(const Ended ended, run(command));
    if (ended.exit_code == 0) return {};
    const bool is_full = ended.errors.find("No space left on device") != std::string::npos;
    if (is_full) return std::unexpected(system_error("could not convert image to raw", ENOSPC));
    return fail(
        ErrorKind::io,
        "could not convert image to raw: " +
            text_after(ended.errors, "qemu-img ended with code " + std::to_string(ended.exit_code))
    );
}

}  // namespace berth::image
