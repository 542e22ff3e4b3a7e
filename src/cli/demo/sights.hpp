// The watches of the demo merged into one stream of sights: each object as it was and as it is.
#pragma once

#include <map>

#include "base/async/notify.hpp"
#include "cli/client.hpp"

namespace berth::cli {

struct Sight {
    const api::Kind* kind = nullptr;
    kube::Document before;  ///< nullptr: it was not there
    kube::Document after;   ///< nullptr: it is gone
};

class Sights {
public:
    explicit Sights(Client& client) : client_(client), arrivals_(client.executor()) {}

    /// Watches VMs, VMIs, DataVolumes, claims, volumes and pods beside the next Client::wait().
    void watch_beside();
    /// The next change; waits for one.
    Task<Sight> next();
    /// Objects of the kind that are there, as far as next() has told.
    [[nodiscard]] std::size_t count(const api::Kind& kind) const;
    /// The object as next() last told of it; nullptr when it is not there.
    [[nodiscard]] kube::Document find(const api::Kind& kind, const std::string& name) const;

private:
    struct Arrival {
        const api::Kind* kind;
        kube::WatchEvent event;
    };

    Task<void> watch(const api::Kind* kind);

    Client& client_;
    Channel<Arrival> arrivals_;
    std::map<std::pair<std::string_view, std::string>, kube::Document> seen_;  ///< by plural and name
};

}  // namespace berth::cli
