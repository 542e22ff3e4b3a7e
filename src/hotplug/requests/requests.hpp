// What addvolume and removevolume of a VM or an instance do: pure functions from what is stored to a patch, or to a
// refusal. Contract: docs/spec/hotplug.md 2.4 to 2.6
#pragma once

#include "api/cause.hpp"
#include "hotplug/gates.hpp"
#include "hotplug/requests/options.hpp"

namespace berth::hotplug {

enum class Target { machine, instance };

/// What a request may look at. A missing object is nullptr.
struct RequestView {
    Target target = Target::instance;
    std::string name;                  ///< of the machine or instance, from the URL
    const json::Value* vm = nullptr;   ///< for Target::machine
    const json::Value* vmi = nullptr;  ///< the instance of that name
    Gates gates;
    Result<json::Value> body;                ///< null: there is none; an error: it is neither JSON nor YAML
    std::optional<std::int64_t> free_ports;  ///< of the running machine, for disks on bus virtio; none: not known
};

/// A refusal, or the patch of the target.
struct Decision {
    int code = 202;
    std::string_view rule = {};             ///< the step of the pipeline that refused
    std::string reason = {};                ///< "BadRequest", "NotFound", "Conflict", "Invalid"
    std::string message = {};               ///< why not
    std::vector<api::Cause> causes = {};    ///< of "Invalid"
    std::optional<json::Value> patch = {};  ///< RFC 6902, for the whole object
    std::vector<std::string> warnings = {};
    bool is_dry_run = false;  ///< check the patch, but store nothing
};

Decision add_volume(const RequestView& view);
Decision remove_volume(const RequestView& view);

/// One line of the pipeline, for documents and for the test that each is reached.
struct StepName {
    std::string_view spec;
    std::string_view name;
};
std::vector<StepName> pipeline();

}  // namespace berth::hotplug
