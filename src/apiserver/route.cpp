#include "apiserver/route.hpp"

#include "base/ranges.hpp"

namespace berth::apiserver {
namespace {

using Segments = std::vector<std::string>;

constexpr std::string_view kReviews[][2] = {
    {"authorization.k8s.io",  "selfsubjectaccessreviews" },
    {"authorization.k8s.io",  "selfsubjectrulesreviews"  },
    {"authorization.k8s.io",  "subjectaccessreviews"     },
    {"authorization.k8s.io",  "localsubjectaccessreviews"},
    {"authentication.k8s.io", "tokenreviews"             },
    {"authentication.k8s.io", "selfsubjectreviews"       },
};

bool is_review(std::string_view group, std::string_view resource) {
    return std::ranges::any_of(kReviews, [&](const auto& row) { return row[0] == group && row[1] == resource; });
}

bool serves_group(std::string_view group, std::string_view version) {
    if (std::ranges::any_of(kReviews, [&](const auto& row) { return row[0] == group; })) return version == "v1";
    return std::ranges::any_of(api::kinds(), [&](const api::Kind* kind) {
        return kind->group == group &&
               (kind->version == version ||
                contains(
                    std::views::split(kind->other_versions, ' ') |
                        std::views::transform([](const auto& word) { return std::string_view(word); }),
                    version
                ));
    });
}

int hex(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

Outcome<Segments> segments_of(std::string_view path) {
    Segments out;
    for (const auto part : std::views::split(path, '/')) {
        const std::string_view raw(part);
        if (raw.empty()) continue;
        const auto decoded = decode_segment(raw);
        if (!decoded) return refuse(bad_request("invalid URL escape in \"" + std::string(raw) + "\""));
        out.push_back(*decoded);
    }
    return out;
}

Outcome<void> check_name(const std::string& name) {
    const bool is_bad = name == "." || name == ".." || name.find_first_of("/%") != std::string::npos;
    if (is_bad)
        return refuse(bad_request("invalid name " + quoted(name) + ": may not be '.', '..' or contain '/' or '%'"));
    return {};
}

std::string joined(const Segments& segments, std::size_t from) {
    std::string out;
    for (std::size_t i = from; i < segments.size(); ++i) out += (out.empty() ? "" : "/") + segments[i];
    return out;
}

// What follows the version: [watch] [namespaces/NS] RESOURCE [NAME [SUBRESOURCE…]]
Outcome<Target> route_resource(Target target, const Segments& segments, std::size_t at) {
    if (at < segments.size() && segments[at] == "watch") {
        target.is_legacy_watch = true;
        ++at;
    }
    // "namespaces/x/status" is a part of the namespace itself, not a resource inside it.
    const bool is_inside = segments.size() >= at + 3 && segments[at] == "namespaces" &&
                           !(target.group.empty() && (segments[at + 2] == "status" || segments[at + 2] == "finalize"));
    if (is_inside) {
        target.ns = segments[at + 1];
        at += 2;
    }
    if (at >= segments.size()) return refuse(no_such_resource());
    target.resource = segments[at];
    if (at + 1 < segments.size()) target.name = segments[at + 1];
    target.subresource = joined(segments, at + 2);
    if (auto good = check_name(target.name); !good) return refuse(good.error());
    if (auto good = check_name(target.ns); !good) return refuse(good.error());

    if (target.group == "subresources.kubevirt.io") {
        target.area = Area::machine;
        return target;
    }
    if (is_review(target.group, target.resource)) {
        target.area = Area::review;
        return target;
    }
    target.kind = api::find_kind(target.group, target.resource);
    if (target.kind != nullptr && *target.kind == api::kEventsEvent) {
        target.kind = &api::kEvent;
        target.is_new_event = true;
    }
    if (target.kind == nullptr || (!target.kind->is_namespaced() && !target.ns.empty()))
        return refuse(no_such_resource());
    if (target.kind->is_namespaced() && target.ns.empty() && !target.name.empty()) return refuse(no_such_resource());
    return target;
}

Outcome<Target> route_group(const Segments& segments) {
    Target target;
    const bool is_core = segments[0] == "api";
    const std::size_t version_at = is_core ? 1 : 2;
    if (segments.size() <= version_at + 1) {
        target.area = Area::discovery;
        if (!is_core && segments.size() > 1) target.group = segments[1];
        if (segments.size() == version_at + 1) target.version = segments[version_at];
        return target;
    }
    if (!is_core) target.group = segments[1];
    target.version = segments[version_at];
    const bool is_machine =
        target.group == "subresources.kubevirt.io" && (target.version == "v1" || target.version == "v1alpha3");
    if (!is_machine && !serves_group(target.group, target.version)) return refuse(no_such_path());
    return route_resource(std::move(target), segments, version_at + 1);
}

}  // namespace

std::optional<std::string> decode_segment(std::string_view segment) {
    std::string out;
    for (std::size_t i = 0; i < segment.size(); ++i) {
        if (segment[i] != '%') {
            out += segment[i];
            continue;
        }
        if (i + 2 >= segment.size()) return {};
        const int high = hex(segment[i + 1]);
        const int low = hex(segment[i + 2]);
        if (high < 0 || low < 0) return {};
        out += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return out;
}

Outcome<Target> route(std::string_view path) {
    TRY(const Segments segments, segments_of(path));
    if (segments.empty()) return Target{.area = Area::discovery};
    const std::string& first = segments[0];
    if (first == "api" || first == "apis") return route_group(segments);
    const std::string rest = joined(segments, 1);
    if (first == "version" && rest.empty()) return Target{.area = Area::version};
    if (first == "metrics" && rest.empty()) return Target{.area = Area::metrics};
    if (first == "openapi") return Target{.area = Area::openapi, .name = rest};
    if (first == "healthz" || first == "livez" || first == "readyz")
        return Target{.area = Area::health, .resource = first, .name = rest};
    return refuse(no_such_path());
}

bool is_public(const Target& target) { return target.area == Area::version || target.area == Area::health; }

}  // namespace berth::apiserver
