// PUT and PATCH: both end in amend().
#include "apiserver/body.hpp"
#include "apiserver/builtin/builtin.hpp"
#include "apiserver/decode.hpp"
#include "apiserver/names.hpp"
#include "apiserver/patches.hpp"
#include "apiserver/surroundings.hpp"
#include "apiserver/write.hpp"
#include "base/ranges.hpp"

namespace berth::apiserver {
namespace {

// Kinds whose PUT must say which version it is based on (2.9).
bool needs_version(const api::Kind& kind) {
    constexpr std::string_view kStrict[] = {
        "services",
        "leases",
        "csidrivers",
        "csinodes",
        "volumeattachments",
        "customresourcedefinitions",
        "apiservices",
        "poddisruptionbudgets",
    };
    return kind.serving == api::Serving::schema || contains(kStrict, kind.plural);
}

// Kinds whose PUT to a missing name creates it (2.9).
bool may_create(const api::Kind& kind) {
    constexpr std::string_view kCreate[] = {
        "events",
        "endpoints",
        "limitranges",
        "leases",
        "roles",
        "clusterroles",
        "rolebindings",
        "clusterrolebindings",
    };
    return contains(kCreate, kind.plural);
}

Outcome<Scope> scope_of(const Target& target) {
    if (target.subresource.empty()) return Scope::main;
    if (target.subresource == "status" && target.kind->has_status) return Scope::status;
    if (target.subresource == "finalize" && *target.kind == api::kNamespace) return Scope::finalize;
    return refuse(no_such_resource());
}

std::vector<api::Cause> check(
    const Core& core, const Amendment& amendment, const json::Value& object, const json::Value& old
) {
    std::vector<api::Cause> causes = check_metadata(*amendment.kind, object);
    std::ranges::move(check_schema(*amendment.kind, object), std::back_inserter(causes));
    std::ranges::move(check_built_in(*amendment.kind, object, &old), std::back_inserter(causes));
    const auto it = core.options.admission.find(amendment.kind);
    if (it != core.options.admission.end() && it->second.validate) {
        const std::string ns(json::text_at(object, "/metadata/namespace"));
        const std::string name(json::text_at(object, "/metadata/name"));
        const Around seen = around(core, *amendment.kind, ns, name);
        std::ranges::move(it->second.validate(object, &old, seen.seen_by(amendment.user)), std::back_inserter(causes));
    }
    return causes;
}

}  // namespace

Task<kube::Response> amend(Core& core, Amendment amendment, store::RecordPtr old, json::Value proposed) {
    const api::Kind& kind = *amendment.kind;
    const std::string name = old->key.name;
    if (amendment.scope == Scope::main) {
        default_built_in_update(kind, proposed, old->document);
        const auto it = core.options.admission.find(&kind);
        if (it != core.options.admission.end() && it->second.mutate_update) {
            it->second.mutate_update(proposed, old->document, amendment.user);
        }
    }
    Outcome<json::Value> object = merge(kind, old->document, std::move(proposed), amendment.scope);
    if (!object) co_return std::move(object).error();
    if (json::equal(*object, old->document)) {
        // What is answered must be durable, also when nothing is written.
        const Result<void> durable = co_await core.store.durable(old->revision);
        if (!durable) co_return refusal_of(durable.error(), kind, name);
        co_return answer(old);
    }
    const std::vector<api::Cause> causes = check(core, amendment, *object, old->document);
    if (!causes.empty()) co_return invalid(kind, name, causes);
    if (amendment.is_dry_run) co_return answer(std::move(*object));

    store::Write write{old->key, old->revision, std::nullopt};
    const bool is_end = is_released(kind, *object);
    if (!is_end) write.document = std::move(*object);
    const Result<store::RecordPtr> stored = co_await core.store.write(std::move(write));
    if (!stored) co_return refusal_of(stored.error(), kind, name);
    if (is_end) co_return answer(std::move(*object));
    co_return answer(*stored);
}

Task<kube::Response> update(Core& core, Call call) {
    const Outcome<Scope> scope = scope_of(call.target);
    if (!scope) co_return scope.error();
    Outcome<json::Value> proposed = read_object(call);
    if (!proposed) co_return std::move(proposed).error();
    const api::Kind& kind = call.kind();
    json::set(*proposed, "/apiVersion", json::Value(kind.api_version()));
    const std::string name(json::text_at(*proposed, "/metadata/name"));
    if (!name.empty() && name != call.target.name) {
        co_return bad_request(
            "the name of the object (" + name + ") does not match the name on the URL (" + call.target.name + ")"
        );
    }
    const bool is_based = !json::text_at(*proposed, "/metadata/resourceVersion").empty();
    const store::RecordPtr old = core.store.newest(key_for(call.target));
    if (!old) {
        const bool has_precondition = is_based || !json::text_at(*proposed, "/metadata/uid").empty();
        if (!may_create(kind) || *scope != Scope::main || has_precondition) co_return not_found(kind, call.target.name);
        json::set(*proposed, "/metadata/name", json::Value(call.target.name));
        call.request.document = std::move(*proposed);
        call.target.name.clear();
        co_return co_await create(core, std::move(call));
    }
    if (!is_based && needs_version(kind)) {
        const api::Cause cause = api::invalid("metadata.resourceVersion", "0x0", "must be specified for an update");
        co_return invalid(kind, call.target.name, {cause});
    }
    Amendment amendment{&kind, *scope, call.write.is_dry_run, call.request.user};
    kube::Response response = co_await amend(core, std::move(amendment), old, std::move(*proposed));
    response.warnings = std::move(call.warnings);
    co_return response;
}

Task<kube::Response> patch(Core& core, Call call) {
    const Outcome<Scope> scope = scope_of(call.target);
    if (!scope) co_return scope.error();
    Outcome<ReadPatch> patch = read_patch(call);
    if (!patch) co_return std::move(patch).error();
    const api::Kind& kind = call.kind();
    const store::RecordPtr old = core.store.newest(key_for(call.target));
    if (!old) co_return not_found(kind, call.target.name);
    Outcome<json::Value> proposed = patched(call, *patch, old->document);
    if (!proposed) co_return std::move(proposed).error();
    Amendment amendment{&kind, *scope, call.write.is_dry_run, call.request.user};
    kube::Response response = co_await amend(core, std::move(amendment), old, std::move(*proposed));
    response.warnings = std::move(call.warnings);
    co_return response;
}

}  // namespace berth::apiserver
