#include "apiserver/read.hpp"

#include <charconv>

#include "apiserver/pages.hpp"
#include "apiserver/present.hpp"

namespace berth::apiserver {
namespace {

constexpr const char* kTooOld =
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue "
    "parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with "
    "the provided "
    "token results in an inconsistent list - objects that were created, modified, or deleted between the time the "
    "first chunk was "
    "returned and now may show up in the list.";

kube::Response bad_list(const std::string& field, const std::string& message) {
    return invalid(
        "ListOptions.meta.k8s.io",
        "",
        {
            {"FieldValueForbidden", message, field}
    }
    );
}

// What resourceVersion, resourceVersionMatch, limit and continue say together.
struct Range {
    std::optional<store::Revision> exact;  // none: the newest
    std::optional<store::Revision> not_older;
    std::size_t limit = 0;
    std::optional<Continuation> from;
};

Outcome<void> check_match(const kube::Request& request, const std::string& match) {
    const std::string version = request.parameter("resourceVersion").value_or("");
    constexpr const char* kField = "resourceVersionMatch";
    if (request.parameter("sendInitialEvents")) {
        return refuse(bad_list("sendInitialEvents", "Forbidden: sendInitialEvents is forbidden for list"));
    }
    if (match.empty()) return {};
    if (!request.parameter("continue").value_or("").empty()) {
        return refuse(bad_list(kField, "Forbidden: resourceVersionMatch is forbidden when continue is provided"));
    }
    if (version.empty())
        return refuse(
            bad_list(kField, "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided")
        );
    if (match != "Exact" && match != "NotOlderThan") {
        const api::Cause cause = api::not_supported(kField, quoted(match), R"("Exact", "NotOlderThan", "")");
        return refuse(invalid("ListOptions.meta.k8s.io", "", {cause}));
    }
    if (match == "Exact" && version == "0") {
        return refuse(
            bad_list(kField, "Forbidden: resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"")
        );
    }
    return {};
}

Outcome<Range> read_range(const kube::Request& request) {
    Range out;
    const std::string match = request.parameter("resourceVersionMatch").value_or("");
    if (auto good = check_match(request, match); !good) return refuse(good.error());
    TRY(const auto limit, integer(request, "limit"));
    if (limit && *limit > 0) out.limit = static_cast<std::size_t>(*limit);
    TRY(const auto version, wanted_version(request));
    if (const auto token = request.parameter("continue"); token && !token->empty()) {
        if (version && *version != 0)
            return refuse(bad_request("specifying resource version is not allowed when using continue"));
        TRY(out.from, read_continuation(*token));
        if (out.from->at > 0) out.exact = out.from->at;
        return out;
    }
    if (!version || *version == 0) return out;
    const bool is_exact = match == "Exact" || (match.empty() && out.limit > 0);
    (is_exact ? out.exact : out.not_older) = *version;
    return out;
}

Outcome<std::vector<store::RecordPtr>> read_records(const Core& core, const Call& call, const Range& range) {
    const std::string resource = call.kind().qualified();
    if (!range.exact) return core.store.list(resource, call.target.ns);
    if (*range.exact > core.store.revision()) return refuse(too_large_version(*range.exact, core.store.revision()));
    auto records = core.store.list_at(resource, call.target.ns, *range.exact);
    if (records) return *std::move(records);
    if (!range.from) return refuse(expired("The resourceVersion for the provided list is too old."));
    // The token that comes with the refusal goes on at the newest state instead.
    Continuation rest = *range.from;
    rest.at = -1;
    kube::Response refusal = expired(kTooOld);
    json::Value status = *refusal.document;
    json::set(status, "/metadata/continue", json::Value(print(rest)));
    refusal.document = std::make_shared<const json::Value>(std::move(status));
    return refuse(std::move(refusal));
}

}  // namespace

Outcome<std::optional<store::Revision>> wanted_version(const kube::Request& request) {
    const auto text = request.parameter("resourceVersion");
    if (!text || text->empty()) return std::nullopt;
    store::Revision version = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), version);
    if (error != std::errc() || end != text->data() + text->size() || version < 0) {
        return refuse(bad_request(
            "Invalid value: " + quoted(*text) + ": strconv.ParseUint: parsing " + quoted(*text) + ": invalid syntax"
        ));
    }
    return version;
}

Outcome<Page> read_page(const Core& core, const Call& call) {
    TRY(const Selection selection, Selection::read(call));
    TRY(const Range range, read_range(call.request));
    if (range.not_older && *range.not_older > core.store.revision()) {
        return refuse(too_large_version(*range.not_older, core.store.revision()));
    }
    TRY(const std::vector<store::RecordPtr> all, read_records(core, call, range));
    Page page;
    page.at = range.exact.value_or(core.store.revision());
    auto it = all.begin();
    if (range.from) {
        const auto name_of = [](const store::RecordPtr& record) { return std::pair(record->key.ns, record->key.name); };
        it = std::ranges::upper_bound(all, std::pair(range.from->ns, range.from->name), {}, name_of);
    }
    for (; it != all.end(); ++it) {
        if (!selection.matches((*it)->document)) continue;
        if (range.limit > 0 && page.records.size() == range.limit) break;
        page.records.push_back(*it);
    }
    if (it == all.end()) return page;
    const store::ObjectKey& last = page.records.back()->key;
    page.next = print(Continuation{page.at, last.ns, last.name});
    if (selection.is_empty()) page.remaining = static_cast<std::size_t>(all.end() - it);
    return page;
}

Task<kube::Response> get(Core& core, Call call) {
    const auto version = wanted_version(call.request);
    if (!version) co_return version.error();
    if (*version && **version > core.store.revision()) co_return too_large_version(**version, core.store.revision());
    const store::RecordPtr record = core.store.get(key_for(call.target));
    if (!record) co_return not_found(call.kind(), call.target.name);
    co_return answer(record);
}

Task<kube::Response> list(Core& core, Call call) {
    Outcome<Page> page = read_page(core, call);
    if (!page) co_return std::move(page).error();
    const Presenter presenter(core, call);
    co_return presenter.list(*page);
}

}  // namespace berth::apiserver
