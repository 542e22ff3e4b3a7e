// Disks that are not raw: qemu-img, from a file or from nbdkit's curl plugin, with formats always named.
// qemu-img's own HTTP driver hangs (docs/spec/qemu-facts.md 8); it is not used.
#pragma once

#include <functional>
#include <string>

#include "image/format.hpp"
#include "image/http.hpp"
#include "image/process.hpp"
#include "image/target.hpp"

namespace berth::image {

/// Serves a remote image on a Unix socket while it lives.
class RemoteDisk {
public:
    /// Errors  unavailable: nbdkit did not come up; its words are in the message
    static Result<RemoteDisk> open(
        const Job& job, const Remote& remote, const std::string& trust_anchors, const std::string& directory
    );
    ~RemoteDisk();
    RemoteDisk(RemoteDisk&&) noexcept = default;
    RemoteDisk& operator=(RemoteDisk&&) = delete;

    [[nodiscard]] const std::string& socket() const { return socket_; }
    [[nodiscard]] std::string errors() { return server_.errors(); }

private:
    RemoteDisk(Background server, std::string directory, std::string socket)
        : server_(std::move(server)), directory_(std::move(directory)), socket_(std::move(socket)) {}
    Background server_;
    std::string directory_;  ///< removed at the end
    std::string socket_;
};

/// How qemu-img is told what to read: never by a bare name, which it would probe and follow.
std::string file_image(Format format, const std::string& path);
std::string nbd_image(Format format, const std::string& socket);

/// Errors  invalid: another format, a backing or data file, encryption; the text of a size that does not fit comes from
///         Target::refusal_of
Result<Bytes> check_image(Format format, const std::string& image, const Target& target);

using Progress = std::function<void(double percent)>;

/// Writes the disk raw to the target, which must be clear.
Result<void> convert_image(const std::string& image, const Target& target, const Job& job, const Progress& progress);

}  // namespace berth::image
