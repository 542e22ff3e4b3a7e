// From a URL to what it names (docs/spec/kube-api.md 2.1).
#pragma once

#include "api/kind.hpp"
#include "apiserver/status.hpp"

namespace berth::apiserver {

enum class Area {
    resource,  ///< objects of a stored kind
    review,    ///< create-only kinds without storage: access reviews and the like
    machine,   ///< subresources.kubevirt.io
    discovery,
    openapi,
    version,
    health,
    metrics,
};

struct Target {
    Area area = Area::resource;
    const api::Kind* kind = nullptr;  ///< Area::resource
    std::string group = {};
    std::string version = {};   ///< as asked for: may be an older one of the kind
    std::string resource = {};  ///< plural; for Area::review and Area::machine
    std::string ns = {};
    std::string name = {};
    std::string subresource = {};  ///< "status", "portforward/22/tcp"
    bool is_legacy_watch = false;  ///< under /watch/
    bool is_new_event = false;     ///< events.k8s.io: a view of core events, which `kind` then is
};

/// Errors  404 for what is not served, 400 for names that cannot be
Outcome<Target> route(std::string_view path);

/// /version, /healthz, /livez and /readyz: served to everyone.
bool is_public(const Target& target);

/// Percent-decodes one path segment; none when it is malformed.
std::optional<std::string> decode_segment(std::string_view segment);

}  // namespace berth::apiserver
