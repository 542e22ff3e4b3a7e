// POST: decode, place, default, check, store.
#include "apiserver/body.hpp"
#include "apiserver/builtin/builtin.hpp"
#include "apiserver/decode.hpp"
#include "apiserver/names.hpp"
#include "apiserver/seed.hpp"
#include "apiserver/surroundings.hpp"
#include "apiserver/write.hpp"

namespace berth::apiserver {
namespace {

constexpr int kNameAttempts = 8;

// A namespace that is missing or on its way out takes nothing new.
Outcome<void> check_namespace(const Core& core, const api::Kind& kind, const std::string& ns, const std::string& name) {
    if (!kind.is_namespaced()) return {};
    const store::RecordPtr found = core.store.newest(key_for(api::kNamespace, "", ns));
    if (!found) return refuse(not_found(api::kNamespace, ns));
    if (json::text_at(found->document, "/metadata/deletionTimestamp").empty()) return {};
    const std::string why = "unable to create new content in namespace " + ns + " because it is being terminated";
    kube::Response answer = forbidden(kind, name, why);
    json::Value status = *answer.document;
    json::Object cause{
        {"reason",  "NamespaceTerminating"                    },
        {"message", "namespace " + ns + " is being terminated"},
        {"field",   "metadata.namespace"                      }
    };
    json::set(status, "/details/causes", json::Value(json::Array{std::move(cause)}));
    answer.document = std::make_shared<const json::Value>(std::move(status));
    return refuse(std::move(answer));
}

// The object as it will be stored, apart from its revision.
Outcome<json::Value> prepare(Core& core, const api::Kind& kind, const kube::User& user, json::Value object) {
    adopt(kind, object, new_uid(core.entropy), core.clock.now());
    const Admission* admission = nullptr;
    if (const auto it = core.options.admission.find(&kind); it != core.options.admission.end()) admission = &it->second;
    default_built_in(core, kind, object);
    if (admission != nullptr && admission->mutate_create) admission->mutate_create(object, user);
    // What is stored has the form that every later read, change and write of it gives it again.
    auto formed = typed(kind, std::move(object));
    if (!formed)
        return refuse(internal_error(
            "the defaults of " + std::string(kind.kind) + " do not fit its type: " + formed.error().message
        ));
    object = *std::move(formed);
    order_fields(object);

    std::vector<api::Cause> causes = check_metadata(kind, object);
    std::ranges::move(check_schema(kind, object), std::back_inserter(causes));
    std::ranges::move(check_built_in(kind, object, nullptr), std::back_inserter(causes));
    if (admission != nullptr && admission->validate) {
        const std::string ns(json::text_at(object, "/metadata/namespace"));
        const Around seen = around(core, kind, ns, std::string(json::text_at(object, "/metadata/name")));
        std::ranges::move(admission->validate(object, nullptr, seen.seen_by(user)), std::back_inserter(causes));
    }
    if (admission != nullptr && admission->validate_beside) {
        const Look look = [&core](const api::Key& key) -> std::shared_ptr<const json::Value> {
            const store::RecordPtr found = core.store.newest(key_for(*key.kind, key.ns, key.name));
            if (!found) return nullptr;
            return {found, &found->document};
        };
        std::ranges::move(admission->validate_beside(object, look), std::back_inserter(causes));
    }
    if (!causes.empty()) return refuse(invalid(kind, std::string(json::text_at(object, "/metadata/name")), causes));
    return object;
}

kube::Response refusal_of_name(
    const Core& core, const api::Kind& kind, const std::string& ns, const std::string& name, bool is_generated
) {
    if (is_generated) {
        json::Object details{
            {"name",              name       },
            {"kind",              kind.plural},
            {"retryAfterSeconds", 1          }
        };
        return failure(
            409,
            "AlreadyExists",
            kind.qualified() + " " + quoted(name) +
                " already exists, the server was not able to generate a unique name for the object",
            std::move(details)
        );
    }
    kube::Response refusal = already_exists(kind, name);
    const store::RecordPtr found = core.store.newest(key_for(kind, ns, name));
    if (!found || json::text_at(found->document, "/metadata/deletionTimestamp").empty()) return refusal;
    json::Value status = *refusal.document;
    json::set(
        status, "/message", json::Value("object is being deleted: " + std::string(json::text_at(status, "/message")))
    );
    refusal.document = std::make_shared<const json::Value>(std::move(status));
    return refusal;
}

struct Creation {
    const api::Kind* kind = nullptr;
    std::string ns;
    bool is_dry_run = false;
    kube::User user;
};

Task<kube::Response> store_new(Core& core, Creation creation, json::Value proposed) {
    const api::Kind& kind = *creation.kind;
    const std::string prefix(json::text_at(proposed, "/metadata/generateName"));
    const bool is_generated = json::text_at(proposed, "/metadata/name").empty() && !prefix.empty();
    std::string name(json::text_at(proposed, "/metadata/name"));
    for (int attempt = 0; attempt < (is_generated ? kNameAttempts : 1); ++attempt) {
        if (is_generated) {
            name = generated_name(prefix, random_suffix(core.entropy, 5));
            json::set(proposed, "/metadata/name", json::Value(name));
        }
        if (auto open = check_namespace(core, kind, creation.ns, name); !open) co_return std::move(open).error();
        json::Value candidate = is_generated ? proposed : std::move(proposed);
        Outcome<json::Value> object = prepare(core, kind, creation.user, std::move(candidate));
        if (!object) co_return std::move(object).error();
        const store::ObjectKey key = key_for(kind, creation.ns, name);
        if (creation.is_dry_run) {
            if (core.store.newest(key)) continue;
            json::erase(*object, "/metadata/resourceVersion");
            co_return answer(std::move(*object), 201);
        }
        store::Write write{key, std::nullopt, std::move(*object)};
        const Result<store::RecordPtr> stored = co_await core.store.write(std::move(write));
        if (stored) co_return answer(*stored, 201);
        if (stored.error().kind != ErrorKind::already_exists) co_return refusal_of(stored.error(), kind, name);
    }
    co_return refusal_of_name(core, kind, creation.ns, name, is_generated);
}

}  // namespace

Task<kube::Response> create(Core& core, Call call) {
    Outcome<json::Value> object = read_object(call);
    if (!object) co_return std::move(object).error();
    drop_status(call.kind(), *object);
    if (auto placed = place(call.kind(), call.target.ns, *object); !placed) co_return std::move(placed).error();
    Creation creation{call.target.kind, call.target.ns, call.write.is_dry_run, call.request.user};
    kube::Response response = co_await store_new(core, std::move(creation), std::move(*object));
    if (call.kind() == api::kNamespace && response.code == 201 && !call.write.is_dry_run) {
        const std::string ns(json::text_at(*response.document, "/metadata/name"));
        const Result<void> furnished = co_await furnish(core, ns);
        if (!furnished)
            core.log.warn(
                "namespace lacks its seeds",
                {
                    {"ns",    ns                       },
                    {"error", furnished.error().message}
            }
            );
    }
    response.warnings = std::move(call.warnings);
    co_return response;
}

Task<Result<void>> ensure(Core& core, json::Value object) {
    const api::Key key = api::key_of(object);
    if (key.kind == nullptr) co_return fail(ErrorKind::invalid, "the server has no kind " + json::print(object));
    if (core.store.newest(key_for(*key.kind, key.ns, key.name))) co_return Result<void>();
    Creation creation{
        key.kind, key.ns, false, {"system:apiserver", {"system:masters"}}
    };
    const kube::Response response = co_await store_new(core, std::move(creation), std::move(object));
    if (response.code == 201 || response.code == 409) co_return Result<void>();
    co_return fail(
        ErrorKind::io, "create " + api::print(key) + ": " + std::string(json::text_at(*response.document, "/message"))
    );
}

}  // namespace berth::apiserver
