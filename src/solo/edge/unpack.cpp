#include "solo/edge/unpack.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>
#include <vector>

#include "solo/edge/fd.hpp"
#include "solo/edge/files.hpp"

namespace berth::solo {
namespace {

constexpr std::string_view kWhiteout = ".wh.";
constexpr std::string_view kOpaque = ".wh..wh..opq";

class Digest {
public:
    Digest() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) { EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr); }
    void add(std::string_view bytes) { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }
    std::string hex() {
        unsigned char sum[EVP_MAX_MD_SIZE];
        unsigned int size = 0;
        EVP_DigestFinal_ex(context_.get(), sum, &size);
        std::string out;
        for (unsigned int i = 0; i < size; ++i) {
            out += "0123456789abcdef"[sum[i] >> 4];
            out += "0123456789abcdef"[sum[i] & 15];
        }
        return out;
    }

private:
    std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_;
};

/// What libarchive reads from: the blob, counted into its digest on the way.
struct Feed {
    BlobReader& reader;
    Digest digest;
    std::optional<Error> error;

    static la_ssize_t read(archive*, void* self, const void** data) {
        auto* feed = static_cast<Feed*>(self);
        const Result<std::string_view> piece = feed->reader.next();
        if (!piece) {
            feed->error = piece.error();
            return -1;
        }
        feed->digest.add(*piece);
        *data = piece->data();
        return static_cast<la_ssize_t>(piece->size());
    }
};

/// "a/./b" as {"a", "b"}. Errors  invalid: "..", or nothing left
Result<std::vector<std::string>> parts_of(std::string_view path) {
    std::vector<std::string> out;
    for (std::string_view rest = path; !rest.empty();) {
        const std::size_t slash = std::min(rest.find('/'), rest.size());
        const std::string_view part = rest.substr(0, slash);
        rest.remove_prefix(std::min(slash + 1, rest.size()));
        if (part == "..")
            return fail(ErrorKind::invalid, "entry \"" + std::string(path) + "\" leaves its image; use another image");
        if (!part.empty() && part != ".") out.emplace_back(part);
    }
    return out;
}

/// Opens a folder as a process with this root would see it: links in the image lead to places in the image.
Fd open_in_root(int root, const std::string& path) {
    open_how how{};
    how.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
    return Fd(static_cast<int>(::syscall(SYS_openat2, root, path.empty() ? "." : path.c_str(), &how, sizeof how)));
}

class Layer {
public:
    Layer(int root, archive* reader) : root_(root), reader_(reader) {}

    Result<void> apply(archive_entry* entry) {
        const char* text = archive_entry_pathname(entry);
        if (text == nullptr) return fail(ErrorKind::invalid, "an entry without a name");
        TRY(std::vector<std::string> parts, parts_of(text));
        if (parts.empty()) return {};  // the root itself
        const std::string name = parts.back();
        parts.pop_back();
        TRY(const Fd parent, parent_of(parts));
        std::string folder;
        for (const std::string& part : parts) folder += part + "/";
        if (name == kOpaque) return hide_below(parent.get(), folder);
        if (name.starts_with(kWhiteout)) return remove_tree_at(parent.get(), name.substr(kWhiteout.size()));
        made_.insert(folder + name);
        const Result<void> done = make(parent.get(), name, entry);
        return done ? done : within("entry \"" + folder + name + "\"", done.error());
    }

private:
    /// The folder of an entry, made where a layer does not name it.
    Result<Fd> parent_of(const std::vector<std::string>& parts) {
        std::string path;
        Fd at = open_in_root(root_, "");
        for (const std::string& part : parts) {
            path += (path.empty() ? "" : "/") + part;
            Fd next = open_in_root(root_, path);
            if (!next.is_open() && errno == ENOENT && ::mkdirat(at.get(), part.c_str(), 0755) == 0)
                next = open_in_root(root_, path);
            if (!next.is_open()) return fail_errno("folder \"" + path + "\" of the image", errno);
            at = std::move(next);
        }
        return at;
    }

    /// An opaque folder shows nothing of the layers below.
    Result<void> hide_below(int dir, const std::string& folder) {
        for (const std::string& name : list_dir("/proc/self/fd/" + std::to_string(dir))) {
            if (!made_.contains(folder + name)) {
                TRY_DO(remove_tree_at(dir, name));
                continue;
            }
            const Fd inner(::openat(dir, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
            if (inner.is_open()) TRY_DO(hide_below(inner.get(), folder + name + "/"));
        }
        return {};
    }

    Result<void> make(int dir, const std::string& name, archive_entry* entry) {
        if (const char* target = archive_entry_hardlink(entry); target != nullptr)
            return make_hard_link(dir, name, target);
        const mode_t type = archive_entry_filetype(entry);
        if (type == AE_IFDIR) return make_folder(dir, name, entry);
        TRY_DO(remove_tree_at(dir, name));
        if (type == AE_IFREG) return make_file(dir, name, entry);
        if (type == AE_IFLNK) {
            const char* target = archive_entry_symlink(entry);
            if (target == nullptr || ::symlinkat(target, dir, name.c_str()) != 0) return fail_errno("make link", errno);
            if (::fchownat(dir, name.c_str(), owner(entry), group(entry), AT_SYMLINK_NOFOLLOW) != 0)
                return fail_errno("chown", errno);
            return {};
        }
        if (type == AE_IFIFO && ::mkfifoat(dir, name.c_str(), archive_entry_perm(entry)) != 0)
            return fail_errno("make fifo", errno);
        return {};  // device nodes are left out: the runtime makes those that a container may have
    }

    static uid_t owner(archive_entry* entry) { return static_cast<uid_t>(archive_entry_uid(entry)); }
    static gid_t group(archive_entry* entry) { return static_cast<gid_t>(archive_entry_gid(entry)); }

    Result<void> make_folder(int dir, const std::string& name, archive_entry* entry) {
        if (::mkdirat(dir, name.c_str(), 0700) != 0) {
            struct stat status{};
            if (errno != EEXIST || ::fstatat(dir, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
                return fail_errno("make folder", errno);
            if (!S_ISDIR(status.st_mode)) {
                TRY_DO(remove_tree_at(dir, name));
                if (::mkdirat(dir, name.c_str(), 0700) != 0) return fail_errno("make folder", errno);
            }
        }
        const Fd made(::openat(dir, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!made.is_open()) return fail_errno("open folder", errno);
        return set_owner(made.get(), entry);
    }

    static Result<void> set_owner(int fd, archive_entry* entry) {
        // The owner first: changing it clears the set-user-id bit.
        if (::fchown(fd, owner(entry), group(entry)) != 0) return fail_errno("chown", errno);
        if (::fchmod(fd, archive_entry_perm(entry) & 07777) != 0) return fail_errno("chmod", errno);
        return {};
    }

    Result<void> make_file(int dir, const std::string& name, archive_entry* entry) {
        const Fd file(::openat(dir, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (!file.is_open()) return fail_errno("make file", errno);
        for (;;) {
            const void* data = nullptr;
            std::size_t size = 0;
            la_int64_t offset = 0;
            const int next = archive_read_data_block(reader_, &data, &size, &offset);
            if (next == ARCHIVE_EOF) break;
            if (next < ARCHIVE_WARN)
                return fail(ErrorKind::invalid, std::string("read: ") + archive_error_string(reader_));
            for (std::size_t done = 0; done < size;) {
                const ssize_t count = ::pwrite(
                    file.get(), static_cast<const char*>(data) + done, size - done, offset + static_cast<off_t>(done)
                );
                if (count < 0) return fail_errno("write", errno);
                done += static_cast<std::size_t>(count);
            }
        }
        if (::ftruncate(file.get(), archive_entry_size(entry)) != 0) return fail_errno("set size", errno);
        return set_owner(file.get(), entry);
    }

    Result<void> make_hard_link(int dir, const std::string& name, const char* target) {
        TRY(std::vector<std::string> parts, parts_of(target));
        if (parts.empty()) return fail(ErrorKind::invalid, "a hard link to the root");
        const std::string target_name = parts.back();
        parts.pop_back();
        TRY(const Fd from, parent_of(parts));
        struct stat source{};
        struct stat there{};
        if (::fstatat(from.get(), target_name.c_str(), &source, AT_SYMLINK_NOFOLLOW) != 0)
            return fail_errno("hard link to \"" + std::string(target) + "\"", errno);
        const bool is_same =
            ::fstatat(dir, name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 && there.st_ino == source.st_ino;
        if (is_same) return {};
        TRY_DO(remove_tree_at(dir, name));
        if (::linkat(from.get(), target_name.c_str(), dir, name.c_str(), 0) != 0)
            return fail_errno("hard link to \"" + std::string(target) + "\"", errno);
        return {};
    }

    int root_;
    archive* reader_;
    std::set<std::string> made_;  ///< by this layer: its own whiteouts spare it
};

Result<void> apply_entries(archive* reader, Feed& feed, int root) {
    Layer layer(root, reader);
    for (;;) {
        archive_entry* entry = nullptr;
        const int next = archive_read_next_header(reader, &entry);
        if (next == ARCHIVE_EOF) return {};
        if (next < ARCHIVE_WARN) {
            if (feed.error) return std::unexpected(*feed.error);
            return fail(ErrorKind::invalid, std::string("broken archive: ") + archive_error_string(reader));
        }
        TRY_DO(layer.apply(entry));
    }
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
    Digest digest;
    digest.add(bytes);
    return digest.hex();
}

Result<void> unpack_layer(ImageSource& source, const std::string& digest, const std::string& root) {
    TRY(const std::string path, blob_path(digest));
    TRY(const std::unique_ptr<BlobReader> blob, source.open(path));
    Feed feed{.reader = *blob, .digest = {}, .error = {}};
    const Fd folder(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder.is_open()) return fail_errno("open \"" + root + "\"", errno);

    const std::unique_ptr<archive, int (*)(archive*)> reader(archive_read_new(), archive_read_free);
    archive_read_support_format_tar(reader.get());
    archive_read_support_filter_gzip(reader.get());
    archive_read_support_filter_zstd(reader.get());
    if (archive_read_open(reader.get(), &feed, nullptr, Feed::read, nullptr) != ARCHIVE_OK) {
        if (feed.error) return within("layer " + digest, *feed.error);
        return fail(ErrorKind::invalid, "layer " + digest + ": " + archive_error_string(reader.get()));
    }
    if (const Result<void> done = apply_entries(reader.get(), feed, folder.get()); !done)
        return within("layer " + digest, done.error());
    for (;;) {  // what follows the archive's end belongs to the digest too
        TRY(const std::string_view rest, blob->next());
        if (rest.empty()) break;
        feed.digest.add(rest);
    }
    if ("sha256:" + feed.digest.hex() != digest) {
        return fail(ErrorKind::invalid, "layer " + digest + " is damaged: its digest differs; copy the image again");
    }
    return {};
}

}  // namespace berth::solo
