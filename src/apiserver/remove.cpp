// DELETE of one object and of a collection (docs/spec/kube-api.md 2.12, 2.15).
#include "apiserver/body.hpp"
#include "apiserver/present.hpp"
#include "apiserver/write.hpp"
#include "base/ranges.hpp"

namespace berth::apiserver {
namespace {

constexpr std::int64_t kPodGrace = 30;

kube::Response bad_options(api::Cause cause) { return invalid("DeleteOptions", "", {std::move(cause)}); }

void read_body(RemoveOptions& options, const json::Value& body) {
    options.grace_seconds = json::integer_at(body, "/gracePeriodSeconds");
    options.propagation = json::text_at(body, "/propagationPolicy");
    options.uid = json::text_at(body, "/preconditions/uid");
    options.resource_version = json::text_at(body, "/preconditions/resourceVersion");
    if (const json::Value* orphans = json::find(body, "/orphanDependents"); orphans != nullptr && orphans->is_bool()) {
        options.orphans = orphans->get_bool();
    }
}

Outcome<void> check_dry_run(RemoveOptions& options, const json::Value& body, const kube::Request& request) {
    std::vector<std::string> values;
    if (const json::Value* list = json::find(body, "/dryRun"); list != nullptr && list->is_array()) {
        for (const json::Value& value : list->get_array())
            values.emplace_back(value.is_string() ? std::string(value.get_string()) : "");
    }
    for (const auto& [name, value] : request.query) {
        if (name == "dryRun") values.push_back(value);
    }
    for (const std::string& value : values) {
        if (value != "All") return refuse(bad_options(api::not_supported("dryRun", quoted(value), "\"All\"")));
        options.is_dry_run = true;
    }
    return {};
}

std::vector<std::string> finalizers_of(const json::Value& object) {
    std::vector<std::string> out;
    const json::Value* list = json::find(object, "/metadata/finalizers");
    if (list == nullptr || !list->is_array()) return out;
    for (const json::Value& finalizer : list->get_array()) {
        if (finalizer.is_string()) out.emplace_back(finalizer.get_string());
    }
    return out;
}

// The finalizers that make the garbage collector do what the policy says.
std::vector<std::string> with_policy(std::vector<std::string> finalizers, const RemoveOptions& options) {
    std::string wanted;
    if (options.propagation == "Orphan" || options.orphans.value_or(false)) wanted = "orphan";
    if (options.propagation == "Foreground") wanted = "foregroundDeletion";
    if (options.propagation.empty() && !options.orphans) return finalizers;
    std::erase_if(finalizers, [](const std::string& one) { return one == "orphan" || one == "foregroundDeletion"; });
    if (!wanted.empty()) finalizers.push_back(wanted);
    return finalizers;
}

std::int64_t grace_of(const json::Value& pod, const RemoveOptions& options) {
    const std::string_view phase = json::text_at(pod, "/status/phase");
    if (json::text_at(pod, "/spec/nodeName").empty() || phase == "Succeeded" || phase == "Failed") return 0;
    std::int64_t grace = json::integer_at(pod, "/spec/terminationGracePeriodSeconds").value_or(kPodGrace);
    if (options.grace_seconds) grace = *options.grace_seconds;
    return grace < 0 ? 1 : grace;
}

bool is_deleting(const json::Value& object) { return !json::text_at(object, "/metadata/deletionTimestamp").empty(); }

void mark(json::Value& object, Timestamp at, std::int64_t grace) {
    json::set(object, "/metadata/deletionTimestamp", json::Value(to_rfc3339(at)));
    json::set(object, "/metadata/deletionGracePeriodSeconds", json::Value(grace));
}

// A pod gets time to end; asking again can only shorten it.
std::optional<Removal> plan_graceful(const json::Value& pod, const RemoveOptions& options, Timestamp now) {
    std::int64_t grace = grace_of(pod, options);
    if (is_deleting(pod)) {
        const std::int64_t current = json::integer_at(pod, "/metadata/deletionGracePeriodSeconds").value_or(0);
        if (current == 0) return {};
        if (!options.grace_seconds && grace > 0) grace = current;
        if (grace >= current) return Removal{Removal::Step::none, pod};
    }
    if (grace == 0) return {};
    Removal out{Removal::Step::mark, pod};
    if (!is_deleting(pod)) {
        mark(out.object, now + std::chrono::seconds(grace), grace);
        if (json::integer_at(pod, "/metadata/generation").value_or(0) > 0) bump_generation(out.object);
        return out;
    }
    const auto was = from_rfc3339(json::text_at(pod, "/metadata/deletionTimestamp"));
    const std::int64_t current = json::integer_at(pod, "/metadata/deletionGracePeriodSeconds").value_or(0);
    mark(out.object, was.value_or(now) - std::chrono::seconds(current - grace), grace);
    return out;
}

bool is_held(const api::Kind& kind, const json::Value& object) {
    const json::Value* list = kind == api::kNamespace ? json::find(object, "/spec/finalizers") : nullptr;
    return list != nullptr && list->is_array() && !list->get_array().empty();
}

Outcome<void> check_preconditions(const api::Kind& kind, const json::Value& object, const RemoveOptions& options) {
    const std::string name(json::text_at(object, "/metadata/name"));
    const std::string uid(json::text_at(object, "/metadata/uid"));
    const std::string version(json::text_at(object, "/metadata/resourceVersion"));
    if (!options.uid.empty() && options.uid != uid) {
        return refuse(conflict(
            kind,
            name,
            "the UID in the precondition (" + options.uid + ") does not match the UID in record (" + uid +
                "). The object might have been deleted and then recreated"
        ));
    }
    if (!options.resource_version.empty() && options.resource_version != version) {
        return refuse(conflict(
            kind,
            name,
            "the ResourceVersion in the precondition (" + options.resource_version +
                ") does not match the ResourceVersion in record (" + version + "). The object might have been modified"
        ));
    }
    constexpr std::string_view kProtected[] = {"default", "kube-system", "kube-public"};
    if (kind == api::kNamespace && contains(kProtected, name)) {
        return refuse(forbidden(kind, name, "this namespace may not be deleted"));
    }
    return {};
}

kube::Response gone_answer(const api::Kind& kind, const json::Value& object) {
    if (kind == api::kPod) return answer(object);
    json::Object details{
        {"name", json::text_at(object, "/metadata/name")}
    };
    if (!kind.group.empty()) details["group"] = kind.group;
    details["kind"] = kind.plural;
    details["uid"] = json::text_at(object, "/metadata/uid");
    return success(200, std::move(details));
}

}  // namespace

Outcome<RemoveOptions> remove_options(const kube::Request& request) {
    TRY(const json::Value body, read_options(request));
    RemoveOptions options;
    read_body(options, body);
    if (auto good = check_dry_run(options, body, request); !good) return refuse(good.error());
    TRY(const auto grace, integer(request, "gracePeriodSeconds"));
    if (grace) options.grace_seconds = grace;
    if (const auto policy = request.parameter("propagationPolicy"); policy && !policy->empty())
        options.propagation = *policy;
    if (request.parameter("orphanDependents")) options.orphans = flag(request, "orphanDependents");
    constexpr std::string_view kPolicies[] = {"", "Background", "Foreground", "Orphan"};
    if (!contains(kPolicies, options.propagation)) {
        return refuse(bad_options(api::not_supported(
            "propagationPolicy", quoted(options.propagation), R"("Background", "Foreground", "Orphan")"
        )));
    }
    if (options.orphans && !options.propagation.empty()) {
        return refuse(bad_options(api::invalid(
            "propagationPolicy",
            quoted(options.propagation),
            "orphanDependents and deletionPropagation cannot be both set"
        )));
    }
    return options;
}

Removal plan_removal(const api::Kind& kind, const json::Value& object, const RemoveOptions& options, Timestamp now) {
    if (kind == api::kPod) {
        if (auto graceful = plan_graceful(object, options, now)) return *std::move(graceful);
    }
    const std::vector<std::string> finalizers = with_policy(finalizers_of(object), options);
    if (finalizers.empty() && !is_held(kind, object)) return {Removal::Step::erase, object};
    Removal out{Removal::Step::mark, object};
    json::Array list;
    for (const std::string& finalizer : finalizers) list.push_back(json::Value(finalizer));
    if (list.empty()) {
        json::erase(out.object, "/metadata/finalizers");
    } else {
        json::set(out.object, "/metadata/finalizers", json::Value(std::move(list)));
    }
    const std::int64_t grace = json::integer_at(object, "/metadata/deletionGracePeriodSeconds").value_or(0);
    if (!is_deleting(object)) {
        mark(out.object, now, 0);
        if (json::integer_at(object, "/metadata/generation").value_or(0) > 0) bump_generation(out.object);
        if (kind == api::kNamespace) json::set(out.object, "/status/phase", json::Value("Terminating"));
    } else if (grace > 0) {
        mark(out.object, now, 0);
    }
    order_fields(out.object);
    if (json::equal(out.object, object)) out.step = Removal::Step::none;
    return out;
}

Task<kube::Response> remove_record(Core& core, const api::Kind& kind, store::RecordPtr record, RemoveOptions options) {
    if (auto good = check_preconditions(kind, record->document, options); !good) co_return std::move(good).error();
    Removal plan = plan_removal(kind, record->document, options, core.clock.now());
    if (options.is_dry_run || plan.step == Removal::Step::none) {
        const Result<void> durable = co_await core.store.durable(record->revision);
        if (!durable) co_return refusal_of(durable.error(), kind, record->key.name);
        if (plan.step == Removal::Step::erase) co_return gone_answer(kind, plan.object);
        co_return answer(std::move(plan.object));
    }
    store::Write write{record->key, record->revision, std::nullopt};
    if (plan.step == Removal::Step::mark) write.document = std::move(plan.object);
    const Result<store::RecordPtr> stored = co_await core.store.write(std::move(write));
    if (!stored) co_return refusal_of(stored.error(), kind, record->key.name);
    if (plan.step == Removal::Step::mark) co_return answer(*stored);
    co_return gone_answer(kind, (*stored)->document);
}

Task<kube::Response> remove(Core& core, Call call) {
    if (!call.target.subresource.empty()) co_return method_not_allowed();
    Outcome<RemoveOptions> options = remove_options(call.request);
    if (!options) co_return std::move(options).error();
    const store::RecordPtr record = core.store.newest(key_for(call.target));
    if (!record) co_return not_found(call.kind(), call.target.name);
    const bool legacy = options->orphans.has_value() && !*options->orphans;
    kube::Response response = co_await remove_record(core, call.kind(), record, *std::move(options));
    if (legacy && response.code == 200 && json::text_at(*response.document, "/kind") != "Status") response.code = 202;
    co_return response;
}

Task<kube::Response> remove_all(Core& core, Call call) {
    Outcome<RemoveOptions> options = remove_options(call.request);
    if (!options) co_return std::move(options).error();
    Outcome<Page> page = read_page(core, call);
    if (!page) co_return std::move(page).error();
    for (const store::RecordPtr& listed : page->records) {
        const store::RecordPtr record = core.store.newest(listed->key);
        if (!record ||
            json::text_at(record->document, "/metadata/uid") != json::text_at(listed->document, "/metadata/uid"))
            continue;
        RemoveOptions each = *options;
        const kube::Response one = co_await remove_record(core, call.kind(), record, std::move(each));
        if (one.code >= 400 && one.code != 404) co_return one;
    }
    const Presenter presenter(core, call);
    co_return presenter.list(*page);
}

}  // namespace berth::apiserver
