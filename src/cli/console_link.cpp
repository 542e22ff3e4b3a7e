#include "cli/console_link.hpp"

namespace berth::cli {

Task<Result<std::unique_ptr<kube::Duplex>>> open_console(
    kube::http::Client& http, Clock& clock, std::string ns, std::string name, Duration patience
) {
    const std::string path =
        "/apis/subresources.kubevirt.io/v1/namespaces/" + ns + "/virtualmachineinstances/" + name + "/console";
    const Monotonic deadline = clock.monotonic() + patience;
    while (true) {
        kube::http::Query query;
        auto opened = co_await http.open_websocket(path, std::move(query), "plain.kubevirt.io");
        if (opened) co_return *std::move(opened);
        kube::http::Refusal refusal = std::move(opened).error();
        if (refusal.code != 400) co_return std::unexpected(std::move(refusal.error));
        if (clock.monotonic() >= deadline) {
            co_return fail(ErrorKind::timeout, "still not running: " + refusal.error.message);
        }
        co_await clock.sleep_for(std::chrono::seconds(1));  // the interval that clients of this path keep
    }
}

}  // namespace berth::cli
