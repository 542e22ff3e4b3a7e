// The API server without sockets: takes a decoded request, answers as a Kubernetes API server does.
// Contract: docs/spec/kube-api.md 1, 2. The network side is kube/http/listener.hpp.
#pragma once

#include <map>

#include "api/kind.hpp"
#include "apiserver/admission.hpp"
#include "apiserver/subresources.hpp"
#include "base/async/clock.hpp"
#include "base/async/entropy.hpp"
#include "base/async/log.hpp"
#include "kube/handler.hpp"
#include "store/store.hpp"

namespace berth::apiserver {

/// Port: answers that come from a node: pod logs and a guest's console. Solo's kubelet implements it.
class NodeStreams {
public:
    virtual ~NodeStreams() = default;
    struct LogOptions {
        std::string ns, pod, container;
        bool follow = false;
        bool previous = false;
        bool timestamps = false;
        std::optional<std::int64_t> tail_lines;
        std::optional<std::int64_t> limit_bytes;
        std::optional<Timestamp> since;
    };
    /// The container is known to exist and to have started. Errors  not_found, unavailable
    virtual Task<Result<std::unique_ptr<kube::ByteStream>>> log(LogOptions options) = 0;
    /// The serial console of a running VMI. Errors  unavailable: not reachable now
    virtual Task<Result<std::unique_ptr<kube::Duplex>>> console(std::string ns, std::string vmi) = 0;
};

struct Options {
    std::string git_version = "v1.32.0+berth";
    NodeStreams* streams = nullptr;  ///< absent: 501
    std::map<const api::Kind*, Admission> admission = {};
    Subresources subresources = {};
    std::string ca_certificate = {};  ///< PEM, for the ConfigMap kube-root-ca.crt of each namespace
};

class Server final : public kube::Handler {
public:
    Server(Executor executor, store::Store& store, Clock& clock, Entropy& entropy, Log& log, Options options);
    ~Server() override;

    /// Puts the objects of kube-api.md 1.5 in place that are missing (nodes and storage classes are the caller's).
    Task<Result<void>> seed();
    /// Housekeeping until cancelled: events go an hour after they were last written.
    Task<void> run();

    [[nodiscard]] kube::Shape shape(const kube::Request& request) const override;
    Task<kube::Response> handle(kube::Request request) override;
    Task<kube::Answer<kube::WatchStream>> watch(kube::Request request) override;
    Task<kube::Answer<kube::ByteStream>> stream(kube::Request request) override;
    Task<kube::Answer<kube::Duplex>> connect(kube::Request request) override;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace berth::apiserver
