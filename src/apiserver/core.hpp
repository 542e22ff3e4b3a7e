// What every operation of the server works with, and one request on its way through it.
#pragma once

#include "apiserver/negotiate.hpp"
#include "apiserver/openapi.hpp"
#include "apiserver/route.hpp"
#include "apiserver/server.hpp"

namespace berth::apiserver {

struct Core {
    Executor executor;
    store::Store& store;
    Clock& clock;
    Entropy& entropy;
    Log& log;
    Options options;
    OpenApi openapi{options.git_version};
};

enum class Verb { get, list, watch, create, update, patch, remove, remove_all };

struct Call {
    kube::Request request;
    Target target;
    Verb verb = Verb::get;
    Presentation presentation;
    WriteOptions write;
    std::vector<std::string> warnings;

    [[nodiscard]] const api::Kind& kind() const { return *target.kind; }
};

store::ObjectKey key_for(const api::Kind& kind, const std::string& ns, const std::string& name);
inline store::ObjectKey key_for(const Target& target) { return key_for(*target.kind, target.ns, target.name); }

/// The record's document, sharing its ownership.
kube::Response answer(const store::RecordPtr& record, int code = 200);

/// A failed write as a Status: a full disk is a 500 that says so.
kube::Response refusal_of(const Error& error, const api::Kind& kind, const std::string& name);

}  // namespace berth::apiserver
