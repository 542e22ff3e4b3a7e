// The transport to a handler in the same process: a request is a call.
#include "kube/handler.hpp"

#include "kube/api.hpp"

namespace berth::kube {

Task<Result<Response>> InProcess::request(Request request) { co_return co_await handler_.handle(std::move(request)); }

Task<Result<std::unique_ptr<WatchStream>>> InProcess::watch(Request request) {
    Answer<WatchStream> answer = co_await handler_.watch(std::move(request));
    if (!answer) co_return std::unexpected(error_of(answer.error()));
    co_return *std::move(answer);
}

}  // namespace berth::kube
