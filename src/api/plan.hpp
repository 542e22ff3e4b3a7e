// What a rule answers: intents, at most one wait, and the rule that decided. Values that print themselves.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/kind.hpp"
#include "base/check.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "json/value.hpp"

namespace berth::api {

/// Create `document`. AlreadyExists with the same controller UID is a success; with another one the engine reports it.
struct Create {
    json::Value document;  ///< whole object with apiVersion, kind, metadata.name
    bool operator==(const Create&) const = default;
};

enum class Part { object, status };

/// Merge-patch an object (RFC 7386). Not found is a success: what is gone needs no patch.
struct Patch {
    Key key;
    Part part = Part::object;
    json::Value patch;
    Uid uid;  ///< the object it was decided on; the engine adds the precondition
    std::optional<ResourceVersion> at = {
    };  ///< set when the decision depends on the exact version: else 409, plan again
    bool operator==(const Patch&) const = default;
};

/// Delete an object. Not found is a success.
struct Delete {
    Key key;
    Uid uid;  ///< precondition
    std::optional<std::int64_t> grace_seconds = {};
    std::string propagation = "Background";  ///< Background, Foreground, Orphan
    bool operator==(const Delete&) const = default;
};

/// An Event about `about`.
struct Emit {
    Key about;
    Uid uid;
    bool is_warning = false;
    std::string reason;
    std::string message;
    bool operator==(const Emit&) const = default;
};

/// Binds a pod to a node (the binding subresource).
struct Bind {
    Key pod;
    Uid uid;
    std::string node;
    bool operator==(const Bind&) const = default;
};

/// Something only one kind of executor knows how to do: a node, a launcher. `verb` and `on` print it, `args` say the
/// rest.
struct Effect {
    std::string verb;  ///< "create container", "mount volume"
    std::string on;    ///< what it is done to
    json::Value args;
    bool operator==(const Effect&) const = default;
};

using Intent = std::variant<Create, Patch, Delete, Emit, Bind, Effect>;

/// Who must act next, on what, why, since when.
struct Wait {
    std::string who;  ///< "scheduler", "provisioner", "user", …
    Key on;
    std::string why;
    std::optional<Timestamp> since = {};
    bool operator==(const Wait&) const = default;
};

struct Plan {
    std::string_view spec;  ///< the line of the specification: "I-14"
    std::string_view rule;  ///< the name of the rule that decided
    std::vector<Intent> intents;
    std::optional<Wait> wait;
    std::optional<Timestamp> look_again_at;  ///< only when time alone can change the answer

    Plan& add(Intent intent) & {
        intents.push_back(std::move(intent));
        return *this;
    }
    Plan add(Intent intent) && {
        intents.push_back(std::move(intent));
        return std::move(*this);
    }
};

inline Plan want(Intent intent) { return Plan{.intents = {std::move(intent)}}; }
inline Plan settled() { return {}; }
inline Plan wait_for(Wait wait) { return Plan{.wait = std::move(wait)}; }

/// One line of a flow: when this fact holds, this is what we want.
template <class View>
struct Rule {
    std::string_view spec;      ///< the line of the specification, e.g. "I-12"
    std::string_view name;      ///< log field, metric label, trace line, `berth explain`
    bool (*when)(const View&);  ///< a fact about what was seen
    Plan (*then)(const View&);  ///< total: never fails, never waits, reads no clock
};

template <class View>
constexpr bool always(const View&) {
    return true;
}

/// The plan of the first rule that applies. The last rule of a table must hold always.
template <class View, std::size_t N>
Plan first_match(const Rule<View> (&table)[N], const View& view) {
    for (const Rule<View>& rule : table) {
        if (!rule.when(view)) continue;
        Plan plan = rule.then(view);
        plan.spec = rule.spec;
        plan.rule = rule.name;
        return plan;
    }
    base::check_failed(__FILE__, __LINE__, "no rule of the table applies");
}

/// "create pod/default/x", "patch vm/default/web status {...}", "delete …", "event Warning Reason: message"
std::string print(const Intent& intent);
/// One intent a line.
std::string print(const std::vector<Intent>& intents);
std::string print(const Wait& wait);

}  // namespace berth::api
