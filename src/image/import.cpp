#include "image/import.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <variant>

#include "image/blank.hpp"
#include "image/checksum.hpp"
#include "image/intake.hpp"

namespace berth::image {
namespace {

// Holds a disk that cannot be converted on the way.
class Spool final : public Stage {
public:
    explicit Spool(std::string path) : path_(std::move(path)) {}

    Result<void> write(Chunk chunk) override {
        if (!fd_.is_open()) {
            fd_ = Fd(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
            if (!fd_.is_open()) return std::unexpected(system_error("create " + path_, errno));
        }
        TRY_DO(write_at(fd_.get(), chunk, length_, "the spool file"));
        length_ += static_cast<std::int64_t>(chunk.size());
        return {};
    }
    Result<void> finish() override { return {}; }

private:
    std::string path_;
    Fd fd_;
    std::int64_t length_ = 0;
};

// Passes on to a writer that the import keeps, so that it can be asked afterwards.
class Into final : public Stage {
public:
    explicit Into(Stage& stage) : stage_(stage) {}
    Result<void> write(Chunk chunk) override { return stage_.write(chunk); }
    Result<void> finish() override { return stage_.finish(); }

private:
    Stage& stage_;
};

// The end of a stream that is not read on: the disk is read by ranges instead.
class Nowhere final : public Stage {
public:
    Result<void> write(Chunk) override { return {}; }
    Result<void> finish() override { return {}; }
};

enum class Way { undecided, streamed, ranges, spooled };

class HttpImport {
public:
    HttpImport(const Job& job, Target& target, const Progress& progress)
        : job_(job), target_(target), progress_(progress) {
        spool_ = (job.spool_dir.empty() ? parent_of(job.disk_file) : job.spool_dir) + "/berth-spool";
    }
    ~HttpImport() { remove_file(spool_); }
    HttpImport(const HttpImport&) = delete;
    HttpImport& operator=(const HttpImport&) = delete;

    Result<Completion> run() {
        Result<Completion> done = attempt();
        if (done) return done;
        remove_file(spool_);
        if (has_begun_) static_cast<void>(target_.clear());
        if (is_permanent(done.error())) remember_verdict(job_, remote_.validator(), target_.available(), done.error());
        return done;
    }

private:
    Result<Completion> attempt();
    Result<void> look();
    Result<void> stream();
    Result<std::unique_ptr<Stage>> route(Format format, Chunk header, int depth);
    Result<std::unique_ptr<Stage>> route_raw(int depth);
    Result<std::unique_ptr<Stage>> route_spool(int depth);
    Result<void> convert(const std::string& image, double from);
    Result<void> convert_by_ranges();
    Result<void> clear_once();

    const Job& job_;
    Target& target_;
    const Progress& progress_;
    std::string spool_;
    std::optional<HttpSource> http_;
    Remote remote_;
    std::optional<Checksum> checksum_;
    std::unique_ptr<DiskWriter> writer_;
    Way way_ = Way::undecided;
    Format format_ = Format::raw;
    std::int64_t received_ = 0;
    bool has_begun_ = false;  ///< the target may hold something of ours
};

Error could_not_connect(Error error) {
    error.message = "Unable to connect to http data source: " + error.message;
    return error;
}

Result<void> HttpImport::look() {
    if (!job_.checksum.empty()) {
        TRY(checksum_, Checksum::of(job_.checksum));
    }
    auto opened = HttpSource::open(job_);
    if (!opened) return std::unexpected(could_not_connect(opened.error()));
    http_.emplace(std::move(*opened));
    Result<Remote> found = http_->look();
    // A server may refuse HEAD and still serve: only what GET would meet as well ends the try here.
    if (!found && is_permanent(found.error())) return std::unexpected(could_not_connect(found.error()));
    if (found) remote_ = std::move(*found);
    if (const auto verdict = recall_verdict(job_, remote_.validator(), target_.available()))
        return std::unexpected(*verdict);
    return {};
}

Result<void> HttpImport::clear_once() {
    if (std::exchange(has_begun_, true)) return {};
    return target_.clear();
}

Result<std::unique_ptr<Stage>> HttpImport::route_raw(int depth) {
    if (depth == 0 && remote_.length) {
        if (const auto refusal = target_.refusal_of_stream({*remote_.length})) return std::unexpected(*refusal);
    }
    TRY_DO(clear_once());
    way_ = Way::streamed;
    writer_ = std::make_unique<DiskWriter>(target_, job_.preallocates);
    return std::make_unique<Into>(*writer_);
}

Result<std::unique_ptr<Stage>> HttpImport::route_spool(int depth) {
    TRY(const Bytes room, free_space(parent_of(spool_)));
    // Inside a compression the size is not known; it is at least what is transferred.
    if (remote_.length && *remote_.length > room.value) {
        return fail(
            ErrorKind::unavailable,
            "converting the image needs " + std::to_string(*remote_.length) +
                (depth > 0 ? " bytes or more" : " bytes") + " beside the disk, and the node has " +
                std::to_string(room.value) + ": make room on the node, or serve the image as raw"
        );
    }
    way_ = Way::spooled;
    return std::make_unique<Spool>(spool_);
}

Result<std::unique_ptr<Stage>> HttpImport::route(Format format, Chunk header, int depth) {
    format_ = format;
    if (!needs_conversion(format)) return route_raw(depth);
    TRY(const Facts facts, read_facts(format, header));
    if (facts.virtual_size) {
        if (const auto refusal = target_.refusal_of(*facts.virtual_size)) return std::unexpected(*refusal);
    }
    // Ranges read only what the disk holds. A checksum is over every byte in order, so it takes a stream.
    const bool can_range = depth == 0 && remote_.takes_ranges && remote_.length && !checksum_;
    if (!can_range) return route_spool(depth);
    way_ = Way::ranges;
    return std::make_unique<Nowhere>();
}

Result<void> HttpImport::stream() {
    Intake intake([this](Format format, Chunk header, int depth) { return route(format, header, depth); });
    const Consumer consumer = [&](Chunk chunk) -> Result<bool> {
        received_ += static_cast<std::int64_t>(chunk.size());
        if (checksum_) checksum_->add(chunk);
        TRY_DO(intake.write(chunk));
        const double share = way_ == Way::spooled ? 50.0 : 100.0;
        if (progress_ && remote_.length.value_or(0) > 0 && way_ != Way::ranges) {
            progress_(share * static_cast<double>(received_) / static_cast<double>(*remote_.length));
        }
        return way_ != Way::ranges;
    };
    Result<bool> read = http_->read(consumer);
    if (!read) {
        return std::unexpected(received_ == 0 ? could_not_connect(read.error()) : read.error());
    }
    if (way_ == Way::ranges) return {};
    // The checksum first: a wrong image is told as wrong, not as damaged.
    const Result<void> finished = intake.finish();
    if (checksum_) TRY_DO(checksum_->verify());
    return finished;
}

Result<void> HttpImport::convert(const std::string& image, double from) {
    // The header of a qcow2 has said all of it already (route); of the others only qemu-img knows.
    if (format_ != Format::qcow2) TRY_DO(check_image(format_, image, target_));
    TRY_DO(clear_once());
    const Progress scaled = [&](double percent) {
        if (progress_) progress_(from + percent * (100.0 - from) / 100.0);
    };
    return convert_image(image, target_, job_, scaled);
}

Result<void> HttpImport::convert_by_ranges() {
    const std::string directory = parent_of(spool_);
    TRY(RemoteDisk disk, RemoteDisk::open(job_, remote_, http_->trust_anchors(), directory));
    Result<void> done = convert(nbd_image(format_, disk.socket()), 0.0);
    if (!done && !is_permanent(done.error())) {
        const std::string more = disk.errors();
        if (!more.empty()) done.error().message += ": " + more;
    }
    if (!done) return done;
    // All ranges must be of one image: what the server says of it must not have changed since the first look.
    TRY(const Remote after, http_->look());
    if (after.validator() != remote_.validator() || after.length != remote_.length) {
        return fail(ErrorKind::io, "the image changed on the server while it was read");
    }
    return {};
}

Result<Completion> HttpImport::attempt() {
    remove_file(spool_);
    TRY_DO(look());
    TRY_DO(stream());
    if (way_ == Way::ranges) TRY_DO(convert_by_ranges());
    if (way_ == Way::spooled) TRY_DO(convert(file_image(format_, spool_), 50.0));
    remove_file(spool_);
    Completion out{
        .validator = remote_.validator(), .source_bytes = remote_.length.value_or(received_), .checksum = job_.checksum
    };
    if (writer_) {
        out.data_bytes = writer_->written();
        char hex[17];
        std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(writer_->digest()));
        out.digest = std::string("crc64:") + hex;
    }
    TRY(out.virtual_size, target_.settle());
    return out;
}

}  // namespace

Result<Imported> import_disk(const Job& job, const Progress& progress) {
    TRY(Target target, Target::open(job));
    struct stat found = {};
    const bool is_there = ::stat(target.path().c_str(), &found) == 0;
    if (auto done = find_completion(job); done && is_there) return Imported{*done, true};
    if (job.content_type == "archive")
        return fail(ErrorKind::invalid, "content type archive is not supported: use kubevirt");
    Completion completion;
    if (job.source == "none") {
        TRY_DO(make_blank(job, target));
        TRY(completion.virtual_size, target.settle());
    } else if (job.source == "http") {
        HttpImport import(job, target, progress);
        TRY(completion, import.run());
    } else {
        return fail(ErrorKind::invalid, "source \"" + job.source + "\" is not supported: use http or none");
    }
    completion.claim_uid = job.claim_uid;
    completion.source = source_id(job);
    completion.is_preallocated = job.preallocates;
    TRY_DO(write_completion(job, completion));
    return Imported{completion, false};
}

}  // namespace berth::image
