#include "image/http.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>

#include "base/ascii.hpp"
#include "image/trust.hpp"

namespace berth::image {
namespace {

constexpr int kRedirectsMax = 10;
constexpr long kConnectSeconds = 30;
constexpr long kBufferBytes = 512 * 1024;

// "https://host:443" of a URL; "" when it is none. Ports are written out, so that http://a and http://a:80 are the
// same.
std::string origin_of(const std::string& url) {
    const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> parsed(curl_url(), &curl_url_cleanup);
    if (curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) return {};
    std::string out;
    for (const CURLUPart part : {CURLUPART_SCHEME, CURLUPART_HOST, CURLUPART_PORT}) {
        char* text = nullptr;
        if (curl_url_get(parsed.get(), part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK) return {};
        out += (out.empty() ? "" : part == CURLUPART_HOST ? "://" : ":") + lower(text);
        curl_free(text);
    }
    return out;
}

struct Answer {
    long code = 0;
    std::string reason;  ///< "Not Found"
    std::optional<std::int64_t> length;
    std::string accept_ranges, etag, last_modified;
};

// Header names are matched without case; of several answers (a proxy's, a 100) the last one counts.
void read_header(std::string_view line, Answer& out) {
    while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
    if (line.starts_with("HTTP/")) {
        out = {};
        const auto code = line.find(' ');
        const auto reason = code == std::string_view::npos ? code : line.find(' ', code + 1);
        if (reason != std::string_view::npos) out.reason = line.substr(reason + 1);
        return;
    }
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return;
    const std::string name = lower(line.substr(0, colon));
    std::string_view value = line.substr(colon + 1);
    while (value.starts_with(' ') || value.starts_with('\t')) value.remove_prefix(1);
    if (name == "accept-ranges") out.accept_ranges = lower(value);
    if (name == "etag") out.etag = value;
    if (name == "last-modified") out.last_modified = value;
    if (name == "content-length") {
        std::int64_t length = 0;
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), length);
        if (error == std::errc() && end == value.data() + value.size() && length >= 0) out.length = length;
    }
}

Error status_error(const Answer& answer) {
    const std::string code = std::to_string(answer.code);
    std::string message = "expected status code 200, got " + code + ". Status: " + code;
    if (!answer.reason.empty()) message += " " + answer.reason;
    if (answer.code == 401 || answer.code == 403 || answer.code == 407) {
        return {ErrorKind::forbidden, message + ": check secretRef and what it may read"};
    }
    return {answer.code == 404 || answer.code == 410 ? ErrorKind::not_found : ErrorKind::unavailable, message};
}

Error curl_error(CURLcode code, const std::string& detail) {
    const std::string text = detail.empty() ? curl_easy_strerror(code) : detail;
    switch (code) {
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_SSL_ISSUER_ERROR:
            return {
                ErrorKind::forbidden,
                "the server's certificate is not trusted: " + text +
                    ": name the certificate's issuer in certConfigMap, or set insecureSkipVerify",
            };
        case CURLE_SSL_CACERT_BADFILE:
            return {ErrorKind::invalid, "certConfigMap cannot be read as certificates: " + text};
        case CURLE_URL_MALFORMAT:
        case CURLE_UNSUPPORTED_PROTOCOL: return {ErrorKind::invalid, text + ": the URL must be http or https"};
        case CURLE_OPERATION_TIMEDOUT: return {ErrorKind::timeout, text};
        case CURLE_PARTIAL_FILE: return {ErrorKind::io, "the connection closed early: " + text};
        default: return {ErrorKind::io, text};
    }
}

}  // namespace

std::string Remote::validator() const {
    if (etag.empty() && last_modified.empty()) return {};
    return etag + "|" + last_modified + "|" + (length ? std::to_string(*length) : "");
}

struct HttpSource::State {
    const Job* job = nullptr;
    std::string anchors;
    std::string origin;
    std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl{nullptr, &curl_easy_cleanup};
    std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers{nullptr, &curl_slist_free_all};
    std::optional<Remote> remote;

    // Of the request that runs.
    Answer answer;
    const Consumer* consumer = nullptr;
    std::optional<Error> failed;
    bool is_enough = false;
    std::int64_t received = 0;
    char detail[CURL_ERROR_SIZE] = {};

    static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self) {
        read_header({data, size * count}, static_cast<State*>(self)->answer);
        return size * count;
    }

    static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self) {
        State& state = *static_cast<State*>(self);
        const std::size_t bytes = size * count;
        long code = 0;
        curl_easy_getinfo(state.curl.get(), CURLINFO_RESPONSE_CODE, &code);
        if (code != 200 || state.consumer == nullptr) return bytes;  // the page that explains an error
        state.received += static_cast<std::int64_t>(bytes);
        const Result<bool> more = (*state.consumer)(std::as_bytes(std::span(data, bytes)));
        if (!more) state.failed = more.error();
        state.is_enough = more && !*more;
        return more && *more ? bytes : CURL_WRITEFUNC_ERROR;
    }

    void prepare() {
        CURL* c = curl.get();
        curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
        curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
        curl_easy_setopt(c, CURLOPT_USERAGENT, "berth");
        curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
        curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, 1L);
        curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, static_cast<long>(job->stall_timeout.count()));
        curl_easy_setopt(c, CURLOPT_TCP_KEEPALIVE, 1L);
        curl_easy_setopt(c, CURLOPT_BUFFERSIZE, kBufferBytes);
        curl_easy_setopt(c, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
        curl_easy_setopt(c, CURLOPT_SSL_VERIFYPEER, job->trusts_any_certificate ? 0L : 1L);
        curl_easy_setopt(c, CURLOPT_SSL_VERIFYHOST, job->trusts_any_certificate ? 0L : 2L);
        if (!anchors.empty()) {
            curl_blob blob{anchors.data(), anchors.size(), CURL_BLOB_NOCOPY};
            curl_easy_setopt(c, CURLOPT_CAINFO_BLOB, &blob);
        }
        curl_easy_setopt(c, CURLOPT_ERRORBUFFER, detail);
        curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, &State::on_header);
        curl_easy_setopt(c, CURLOPT_HEADERDATA, this);
        curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, &State::on_body);
        curl_easy_setopt(c, CURLOPT_WRITEDATA, this);
        curl_easy_setopt(c, CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
    }

    // One request, no redirect followed.
    Result<void> ask(const std::string& url, bool is_head) {
        CURL* c = curl.get();
        const bool is_origin = origin_of(url) == origin;
        const bool signs_in = is_origin && !job->user.empty();
        curl_easy_setopt(c, CURLOPT_URL, url.c_str());
        if (is_head) {
            curl_easy_setopt(c, CURLOPT_NOBODY, 1L);
        } else {
            curl_easy_setopt(c, CURLOPT_HTTPGET, 1L);
        }
        curl_easy_setopt(c, CURLOPT_HTTPHEADER, is_origin ? headers.get() : nullptr);
        curl_easy_setopt(c, CURLOPT_USERNAME, signs_in ? job->user.c_str() : nullptr);
        curl_easy_setopt(c, CURLOPT_PASSWORD, signs_in ? job->password.c_str() : nullptr);
        answer = {};
        failed.reset();
        is_enough = false;
        received = 0;
        detail[0] = '\0';
        const CURLcode code = curl_easy_perform(c);
        curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &answer.code);
        if (failed) return std::unexpected(*failed);
        if (is_enough || code == CURLE_OK) return {};
        return std::unexpected(curl_error(code, detail));
    }

    // Follows redirects; the last answer is in `answer`, its URL is returned.
    Result<std::string> follow(std::string url, bool is_head) {
        for (int i = 0; i <= kRedirectsMax; ++i) {
            TRY_DO(ask(url, is_head));
            if (answer.code / 100 != 3) return url;
            char* next = nullptr;
            curl_easy_getinfo(curl.get(), CURLINFO_REDIRECT_URL, &next);
            if (next == nullptr) return url;
            const std::string to = next;
            const std::string to_origin = origin_of(to);
            if (!to_origin.starts_with("http://") && !to_origin.starts_with("https://")) {
                return fail(
                    ErrorKind::invalid,
                    "the server redirects to something that is not http or https: use a URL that it serves itself"
                );
            }
            if (origin_of(url).starts_with("https://") && to_origin.starts_with("http://")) {
                return fail(
                    ErrorKind::invalid, "the server redirects from https to http: use the http URL if that is meant"
                );
            }
            url = to;
        }
        return fail(
            ErrorKind::unavailable, "the server redirects more than " + std::to_string(kRedirectsMax) + " times"
        );
    }
};

HttpSource::HttpSource(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpSource::~HttpSource() = default;
HttpSource::HttpSource(HttpSource&&) noexcept = default;
HttpSource& HttpSource::operator=(HttpSource&&) noexcept = default;

Result<HttpSource> HttpSource::open(const Job& job) {
    static const CURLcode initialized = curl_global_init(CURL_GLOBAL_DEFAULT);
    auto state = std::make_unique<State>();
    state->curl.reset(curl_easy_init());
    if (initialized != CURLE_OK || !state->curl) return fail(ErrorKind::io, "libcurl cannot be started");
    state->job = &job;
    state->origin = origin_of(job.endpoint);
    if (state->origin.empty())
        return fail(ErrorKind::invalid, "the source's URL cannot be read: use http://host/path or https://host/path");
    TRY(state->anchors, read_trust_anchors(job.cert_dir));
    for (const auto* list : {&job.headers, &job.secret_headers}) {
        for (const std::string& line : *list) {
            if (line.find_first_of("\r\n") != std::string::npos) {
                return fail(ErrorKind::invalid, "an extra header has a line break: write one header line per entry");
            }
            state->headers.reset(curl_slist_append(state->headers.release(), line.c_str()));
        }
    }
    state->prepare();
    return HttpSource(std::move(state));
}

Result<Remote> HttpSource::look() {
    State& s = *state_;
    TRY(const std::string url, s.follow(s.job->endpoint, true));
    Remote out{.url = url, .is_origin = origin_of(url) == s.origin};
    if (s.answer.code == 200) {
        out.length = s.answer.length;
        out.takes_ranges = !s.answer.accept_ranges.empty() && s.answer.accept_ranges != "none";
        out.etag = s.answer.etag;
        out.last_modified = s.answer.last_modified;
    }
    s.remote = out;
    return out;
}

Result<bool> HttpSource::read(const Consumer& consumer) {
    State& s = *state_;
    s.consumer = &consumer;
    const Result<std::string> read = s.follow(s.job->endpoint, false);
    s.consumer = nullptr;
    if (!read) return std::unexpected(read.error());
    if (s.answer.code != 200) return std::unexpected(status_error(s.answer));
    if (s.is_enough) return false;
    // libcurl compares with what this answer announced; an answer that ends with its connection announces nothing.
    const auto announced = s.remote ? s.remote->length : std::nullopt;
    if (announced && *announced != s.received) {
        return fail(
            ErrorKind::io,
            "the server announced " + std::to_string(*announced) + " bytes and sent " + std::to_string(s.received) +
                ": the connection closed early, or the image changed meanwhile"
        );
    }
    return true;
}

const std::string& HttpSource::trust_anchors() const { return state_->anchors; }

}  // namespace berth::image
