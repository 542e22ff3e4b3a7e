// The operations that change objects (docs/spec/kube-api.md 2.8 to 2.15, 2.27).
#pragma once

#include "apiserver/core.hpp"
#include "apiserver/metadata.hpp"

namespace berth::apiserver {

Task<kube::Response> create(Core& core, Call call);
Task<kube::Response> update(Core& core, Call call);
Task<kube::Response> patch(Core& core, Call call);
Task<kube::Response> remove(Core& core, Call call);
Task<kube::Response> remove_all(Core& core, Call call);

/// Creates an object the server itself wants, with the same defaults and checks. Exists already: a success.
Task<Result<void>> ensure(Core& core, json::Value object);

/// The common end of every change to an existing object: limits, defaults, checks, and the write.
/// The object read and the write have no wait in between, so this cannot conflict with another writer.
struct Amendment {
    const api::Kind* kind = nullptr;
    Scope scope = Scope::main;
    bool is_dry_run = false;
    kube::User user;
};
Task<kube::Response> amend(Core& core, Amendment amendment, store::RecordPtr old, json::Value proposed);

/// How DELETE was asked for: body and query together.
struct RemoveOptions {
    std::optional<std::int64_t> grace_seconds;
    std::string propagation;
    std::optional<bool> orphans;  ///< the legacy orphanDependents
    std::string uid;
    std::string resource_version;
    bool is_dry_run = false;
};
Outcome<RemoveOptions> remove_options(const kube::Request& request);

/// What a DELETE does to one object: nothing new, a mark, or its end. Pure.
struct Removal {
    enum class Step { none, mark, erase } step = Step::none;
    json::Value object;  ///< as it is answered, and stored when marked
};
Removal plan_removal(const api::Kind& kind, const json::Value& object, const RemoveOptions& options, Timestamp now);

/// Deletes one object that was read just now, and answers.
Task<kube::Response> remove_record(Core& core, const api::Kind& kind, store::RecordPtr record, RemoveOptions options);

}  // namespace berth::apiserver
