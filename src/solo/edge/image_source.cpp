#include "solo/edge/image_source.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "solo/edge/fd.hpp"
#include "solo/edge/files.hpp"
#include "solo/edge/unpack.hpp"

namespace berth::solo {
namespace {

constexpr std::size_t kDocumentMax = 4 << 20;
constexpr std::size_t kPiece = 1 << 18;
constexpr int kNestingMax = 4;

class FileReader final : public BlobReader {
public:
    FileReader(std::string path, Fd file) : path_(std::move(path)), file_(std::move(file)) {}

    Result<std::string_view> next() override {
        const ssize_t count = ::read(file_.get(), buffer_.data(), buffer_.size());
        if (count < 0) return fail_errno("read \"" + path_ + "\"", errno);
        return std::string_view(buffer_).substr(0, static_cast<std::size_t>(count));
    }

private:
    std::string path_;
    Fd file_;
    std::string buffer_ = std::string(kPiece, '\0');
};

class DirectorySource final : public ImageSource {
public:
    explicit DirectorySource(std::string path) : path_(std::move(path)) {}

    Result<std::unique_ptr<BlobReader>> open(const std::string& path) override {
        const std::string full = path_ + "/" + path;
        Fd file(::open(full.c_str(), O_RDONLY | O_CLOEXEC));
        if (!file.is_open()) return fail_errno("open \"" + full + "\"", errno);
        return std::make_unique<FileReader>(full, std::move(file));
    }

private:
    std::string path_;
};

using Reader = std::unique_ptr<archive, int (*)(archive*)>;

std::unexpected<Error> broken(const std::string& path, archive* reader) {
    const char* text = archive_error_string(reader);
    return fail(ErrorKind::invalid, "read archive \"" + path + "\": " + (text == nullptr ? "not a tar archive" : text));
}

class MemberReader final : public BlobReader {
public:
    MemberReader(std::string path, Reader reader) : path_(std::move(path)), reader_(std::move(reader)) {}

    Result<std::string_view> next() override {
        const la_ssize_t count = archive_read_data(reader_.get(), buffer_.data(), buffer_.size());
        if (count < 0) return broken(path_, reader_.get());
        return std::string_view(buffer_).substr(0, static_cast<std::size_t>(count));
    }

private:
    std::string path_;
    Reader reader_;
    std::string buffer_ = std::string(kPiece, '\0');
};

/// Looks for each file from the archive's start: it skips over contents, so that no copy of the archive is needed.
class ArchiveSource final : public ImageSource {
public:
    explicit ArchiveSource(std::string path) : path_(std::move(path)) {}

    Result<std::unique_ptr<BlobReader>> open(const std::string& path) override {
        Reader reader(archive_read_new(), archive_read_free);
        archive_read_support_format_tar(reader.get());
        archive_read_support_filter_gzip(reader.get());
        if (archive_read_open_filename(reader.get(), path_.c_str(), kPiece) != ARCHIVE_OK)
            return broken(path_, reader.get());
        for (;;) {
            archive_entry* entry = nullptr;
            const int next = archive_read_next_header(reader.get(), &entry);
            if (next == ARCHIVE_EOF) return fail(ErrorKind::not_found, "no \"" + path + "\" in \"" + path_ + "\"");
            if (next < ARCHIVE_WARN) return broken(path_, reader.get());
            const char* name = archive_entry_pathname(entry);
            std::string_view plain = name == nullptr ? "" : name;
            if (plain.starts_with("./")) plain.remove_prefix(2);
            if (plain == path) return std::make_unique<MemberReader>(path_, std::move(reader));
        }
    }

private:
    std::string path_;
};

bool is_index(const json::Value& document) { return json::find(document, "/manifests") != nullptr; }

bool is_for_this_machine(const json::Value& descriptor) {
    const std::string_view arch = json::text_at(descriptor, "/platform/architecture");
#if defined(__aarch64__)
    const std::string_view own = "arm64";
#else
    const std::string_view own = "amd64";
#endif
    return arch.empty() || arch == own;
}

constexpr std::string_view kRefName = "/annotations/org.opencontainers.image.ref.name";

Result<std::string> choose(const json::Value& index, const std::string& tag) {
    std::vector<const json::Value*> fitting;
    std::string known;
    const json::Value* manifests = json::find(index, "/manifests");
    if (manifests == nullptr || !manifests->is_array()) return fail(ErrorKind::invalid, "its index lists no manifests");
    for (const json::Value& each : manifests->as_array()) {
        const std::string_view name = json::text_at(each, kRefName);
        known += (known.empty() ? "\"" : ", \"") + std::string(name) + "\"";
        const bool has_tag = tag.empty() || name == tag || name.ends_with(":" + tag);
        if (has_tag && is_for_this_machine(each)) fitting.push_back(&each);
    }
    if (fitting.empty())
        return fail(
            ErrorKind::not_found,
            "no manifest for tag \"" + tag + "\" and this machine; there is " + (known.empty() ? "none" : known)
        );
    if (fitting.size() > 1 && tag.empty()) {
        for (const json::Value* each : fitting) {
            if (json::text_at(*each, kRefName) == "latest") return std::string(json::text_at(*each, "/digest"));
        }
    }
    return std::string(json::text_at(*fitting.front(), "/digest"));
}

Result<json::Value> blob_document(ImageSource& source, const std::string& digest) {
    TRY(const std::string path, blob_path(digest));
    TRY(const std::string text, read_document(source, path));
    if ("sha256:" + sha256_hex(text) != digest)
        return fail(ErrorKind::invalid, "\"" + path + "\" is damaged: its digest differs; copy the image again");
    return json::parse(text);
}

}  // namespace

Result<std::unique_ptr<ImageSource>> open_image_source(const std::string& path) {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) return fail(ErrorKind::not_found, "no \"" + path + "\"");
    if (S_ISDIR(status.st_mode)) {
        if (!exists(path + "/index.json"))
            return fail(ErrorKind::invalid, "\"" + path + "\" has no index.json: it is no OCI image layout");
        return std::make_unique<DirectorySource>(path);
    }
    if (!S_ISREG(status.st_mode)) return fail(ErrorKind::invalid, "\"" + path + "\" is neither a directory nor a file");
    return std::make_unique<ArchiveSource>(path);
}

Result<std::string> read_document(ImageSource& source, const std::string& path) {
    TRY(const std::unique_ptr<BlobReader> reader, source.open(path));
    std::string out;
    for (;;) {
        TRY(const std::string_view piece, reader->next());
        if (piece.empty()) return out;
        out += piece;
        if (out.size() > kDocumentMax) return fail(ErrorKind::invalid, "\"" + path + "\" is larger than 4 MiB");
    }
}

Result<std::string> blob_path(std::string_view digest) {
    constexpr std::string_view kPrefix = "sha256:";
    const std::string_view hex = digest.starts_with(kPrefix) ? digest.substr(kPrefix.size()) : "";
    const bool is_hex =
        std::ranges::all_of(hex, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
    if (hex.size() != 64 || !is_hex)
        return fail(ErrorKind::invalid, "digest \"" + std::string(digest) + "\" is not sha256:<64 hex digits>");
    return "blobs/sha256/" + std::string(hex);
}

Result<ImageManifest> read_manifest(ImageSource& source, const std::string& tag) {
    TRY(const std::string text, read_document(source, "index.json"));
    TRY(json::Value document, json::parse(text));
    ImageManifest out;
    for (int depth = 0; is_index(document); ++depth) {
        if (depth == kNestingMax) return fail(ErrorKind::invalid, "indexes are nested too deep");
        TRY(out.digest, choose(document, depth == 0 ? tag : ""));
        TRY(document, blob_document(source, out.digest));
    }
    const json::Value* layers = json::find(document, "/layers");
    if (layers == nullptr || !layers->is_array()) return fail(ErrorKind::invalid, "its manifest lists no layers");
    for (const json::Value& layer : layers->as_array()) out.layers.emplace_back(json::text_at(layer, "/digest"));
    TRY(out.config, blob_document(source, std::string(json::text_at(document, "/config/digest"))));
    return out;
}

}  // namespace berth::solo
