// The watches of a verb merged into one stream of sights: each object as it was and as it is.
#pragma once

#include <functional>
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
    /// ns   "" = all namespaces
    explicit Sights(Client& client, std::string ns = "")
        : client_(client), ns_(std::move(ns)), arrivals_(client.executor()) {}

    /// Watches VMs, VMIs, DataVolumes, claims, volumes, pods and events beside the next Client::wait().
    void watch_beside();
    /// The next change; waits for one.
    Task<Sight> next();
    /// More sights are there already: next() will not wait.
    [[nodiscard]] bool has_more() const { return arrivals_.size() > 0; }
    /// Objects of the kind that are there, as far as next() has told.
    [[nodiscard]] std::size_t count(const api::Kind& kind) const;
    /// The same, of those that answer to `holds`.
    [[nodiscard]] std::size_t count_if(const api::Kind& kind, std::function<bool(const json::Value&)> holds) const;
    /// The object as next() last told of it; nullptr when it is not there.
    [[nodiscard]] kube::Document find(const api::Kind& kind, const std::string& name) const;

private:
    struct Arrival {
        const api::Kind* kind;
        kube::WatchEvent event;
    };

    Task<void> watch(const api::Kind* kind);

    Client& client_;
    std::string ns_;
    Channel<Arrival> arrivals_;
    std::map<std::pair<std::string_view, std::string>, kube::Document> seen_;  ///< by plural and name
};

}  // namespace berth::cli
