// Reading a disk image over HTTP: one look at what is there, then a stream of exactly its bytes.
// Contract: docs/spec/datavolumes.md 3.4. Credentials and extra headers go to the origin they were given for and to no
// other, whatever the server redirects to (reliability/I-30).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "image/job.hpp"
#include "image/stage.hpp"

namespace berth::image {

/// What a server says about the image before any of it is read.
struct Remote {
    std::string url;                     ///< after redirects
    bool is_origin = true;               ///< `url` is of the scheme, host and port that the credentials are for
    std::optional<std::int64_t> length;  ///< none: not said
    bool takes_ranges = false;
    std::string etag;
    std::string last_modified;

    /// Changes when the content does, as far as the server tells; "" = it does not.
    [[nodiscard]] std::string validator() const;
};

/// Says whether more is wanted. An error ends the transfer and is its result.
using Consumer = std::function<Result<bool>(Chunk)>;

class HttpSource {
public:
    /// Errors  invalid: a header with a line break, a trust anchor that cannot be read
    static Result<HttpSource> open(const Job& job);
    ~HttpSource();
    HttpSource(HttpSource&&) noexcept;
    HttpSource& operator=(HttpSource&&) noexcept;

    /// HEAD. A server that refuses it is not an error: then nothing is known but the URL.
    /// Errors  forbidden: certificate; unavailable, timeout, io: no answer
    Result<Remote> look();

    /// GET of the whole image. True: all of it was read; false: the consumer had enough.
    /// Errors  forbidden: certificate, 401, 403; not_found and unavailable: other codes than 200; io: the connection
    ///         closed early, or not as many bytes as announced
    Result<bool> read(const Consumer& consumer);

    /// Trust anchors as one PEM text: the system's and those of the job.
    [[nodiscard]] const std::string& trust_anchors() const;

private:
    struct State;
    explicit HttpSource(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace berth::image
