// Requests: which connection, how long, how often.
#include "kube/http/client.hpp"

#include <charconv>

#include "base/async/task_group.hpp"
#include "kube/http/client_state.hpp"
#include "kube/http/files.hpp"
#include "kube/http/keep.hpp"

namespace berth::kube::http {
namespace {

using std::chrono::seconds;

constexpr Duration kAnswerMax = seconds(30);
constexpr Duration kTokenFor = seconds(10);
constexpr int kRetriesMax = 10;
constexpr int kRetryAfterMax = 60;

// 429 and 5xx are tried again only when the server says when (docs/spec/kube-api.md 2.2, 4.1).
std::optional<Duration> retry_after(const Response& response) {
    if (response.code != 429 && response.code < 500) return std::nullopt;
    const auto header = response.headers.find("retry-after");
    if (header == response.headers.end()) return std::nullopt;
    int count = 0;
    const auto [end, error] =
        std::from_chars(header->second.data(), header->second.data() + header->second.size(), count);
    if (error != std::errc() || count < 0) return std::nullopt;
    return seconds(std::min(count, kRetryAfterMax));
}

}  // namespace

Client::Client(std::unique_ptr<State> state) : state_(std::move(state)) {}
Client::~Client() = default;

Result<std::unique_ptr<Client>> Client::make(Executor executor, Clock& clock, ClientConfig config) {
    TRY(Origin origin, read_origin(config));
    const TlsSettings::Client keys{config.ca_pem, config.certificate_pem, config.key_pem, config.verifies_server};
    TRY(TlsSettings settings, TlsSettings::for_client(keys));
    auto state =
        std::make_unique<State>(std::move(executor), clock, std::move(config), std::move(origin), std::move(settings));
    return std::unique_ptr<Client>(new Client(std::move(state)));
}

void Client::State::prepare(Request& request) { address_to(origin, config, current_token(), request); }

const std::string& Client::State::current_token() {
    const Monotonic now = clock.monotonic();
    if (config.token_file.empty() || now < token_until) return config.token;
    // A token that cannot be read now may be written again in a moment: the last one is still the best there is.
    if (auto text = read_file(config.token_file)) {
        while (text->ends_with('\n')) text->pop_back();
        config.token = *std::move(text);
    }
    token_until = now + kTokenFor;
    return config.token;
}

Task<Result<Response>> Client::State::exchange(const std::string& message, bool only_reads) {
    const Pool::Place place = co_await pool.enter();
    std::optional<Link> idle = pool.take();
    if (idle) {
        Incoming incoming(*std::move(idle));
        const Result<void> sent = co_await incoming.send(message);
        const bool may_try_again = !sent || only_reads;
        Result<Response> response = std::unexpected(sent ? Error{} : sent.error());
        if (sent) response = co_await incoming.whole();
        if (response) {
            if (auto link = incoming.reuse()) pool.give_back(*std::move(link));
            co_return response;
        }
        // The server may have closed it at the moment we chose it. A write may have been done: the caller decides.
        if (!may_try_again || incoming.has_heard()) co_return response;
    }
    CO_TRY(Link fresh, co_await pool.dial());
    Incoming incoming(std::move(fresh));
    CO_TRY_DO(co_await incoming.send(message));
    Result<Response> response = co_await incoming.whole();
    if (auto link = incoming.reuse()) pool.give_back(*std::move(link));
    co_return response;
}

Task<Result<Response>> Client::request(Request request) {
    for (int retries = 0;; ++retries) {
        Request copy = request;
        state_->prepare(copy);
        const std::string message = print_request(copy);
        std::optional<Result<Response>> answer;
        Task<Result<Response>> work = state_->exchange(message, request.method == "GET");
        co_await finishes_within(state_->clock, kAnswerMax, keep(std::move(work), answer));
        if (!answer) {
            co_return fail(
                ErrorKind::timeout, request.method + " " + request.path + ": the server did not answer within 30 s"
            );
        }
        if (!*answer) co_return std::unexpected(std::move(answer->error()));
        const std::optional<Duration> pause = retry_after(**answer);
        if (!pause || retries >= kRetriesMax) co_return **std::move(answer);
        co_await state_->clock.sleep_for(*pause);
    }
}

Result<std::unique_ptr<Transport>> http_transport(Executor executor, Clock& clock, ClientConfig config) {
    return Client::make(std::move(executor), clock, std::move(config));
}

}  // namespace berth::kube::http
