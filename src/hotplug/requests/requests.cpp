// The pipeline of a request, top to bottom: the first step that fails answers.
#include "hotplug/requests/requests.hpp"

#include "api/codec.hpp"
#include "hotplug/admission/new_disk.hpp"
#include "hotplug/lists.hpp"
#include "hotplug/requests/patch.hpp"
#include "hotplug/requests/warnings.hpp"

namespace berth::hotplug {
namespace {

using Refusal = std::optional<Decision>;
using json::quoted;

constexpr std::string_view kQueue = "/status/volumeRequests";

enum class Verb { add, remove };

/// The view with the body read once.
struct Asked {
    const RequestView& view;
    Verb verb;
    Result<Options> options;

    [[nodiscard]] bool is_add() const { return verb == Verb::add; }
    [[nodiscard]] bool is_of_vm() const { return view.target == Target::machine; }
    [[nodiscard]] bool is_queued() const { return is_of_vm() && view.gates.legacy; }
    [[nodiscard]] const json::Value* object() const { return is_of_vm() ? view.vm : view.vmi; }
    [[nodiscard]] std::string spec() const { return is_of_vm() ? "/spec/template/spec" : "/spec"; }
    [[nodiscard]] const json::Array& volumes() const { return list_at(*object(), spec() + std::string(kVolumes)); }
    [[nodiscard]] const json::Array& queue() const { return list_at(*object(), kQueue); }
    [[nodiscard]] const std::string& name() const { return options->name; }
};

Decision bad_request(std::string message) {
    return {.code = 400, .reason = "BadRequest", .message = std::move(message)};
}
Decision conflict(std::string message) { return {.code = 409, .reason = "Conflict", .message = std::move(message)}; }
Decision invalid(std::vector<api::Cause> causes) {
    return {.code = 422, .reason = "Invalid", .message = {}, .causes = std::move(causes)};
}

// The instance that runs this VM now. Another owner's instance of the same name is none of its business.
const json::Value* running_machine(const Asked& asked) {
    const json::Value* vmi = asked.view.vmi;
    if (vmi == nullptr || !asked.is_of_vm() || asked.view.vm == nullptr) return vmi;
    for (const json::Value& owner : list_at(*vmi, "/metadata/ownerReferences")) {
        if (json::bool_at(owner, "/controller"))
            return json::text_at(owner, "/uid") == json::text_at(*asked.view.vm, "/metadata/uid") ? vmi : nullptr;
    }
    return nullptr;
}

// --- steps
// ---------------------------------------------------------------------------------------------------------------------

Refusal lacks_gate(const Asked& asked) {
    if (asked.view.gates.legacy || asked.view.gates.declarative) return {};
    return bad_request(
        "volumes cannot be plugged: switch on the feature gate DeclarativeHotplugVolumes or HotplugVolumes in the "
        "KubeVirt object"
    );
}

Refusal body_is_unreadable(const Asked& asked) {
    if (asked.options) return {};
    return bad_request("the request cannot be read: " + asked.options.error().message);
}

Refusal lacks_name(const Asked& asked) {
    if (!asked.name().empty()) return {};
    return bad_request("the request has no name: it needs the name of the volume");
}

Refusal lacks_disk(const Asked& asked) {
    if (!asked.is_add() || asked.options->disk) return {};
    return bad_request(
        "the request has no disk: it says how the guest sees the volume, such as {\"disk\": {\"bus\": \"scsi\"}}"
    );
}

Refusal lacks_source(const Asked& asked) {
    if (!asked.is_add() || asked.options->has_source) return {};
    return bad_request("the request has no volumeSource: it names a dataVolume or a persistentVolumeClaim");
}

Refusal has_two_sources(const Asked& asked) {
    if (!asked.is_add() || !asked.options->names_two_sources()) return {};
    return bad_request("volumeSource names a dataVolume and a persistentVolumeClaim: remove one");
}

Refusal is_missing(const Asked& asked) {
    if (asked.object() != nullptr) return {};
    const std::string kind = asked.is_of_vm() ? "virtualmachine" : "virtualmachineinstance";
    return Decision{
        .code = 404, .reason = "NotFound", .message = kind + ".kubevirt.io " + quoted(asked.view.name) + " not found"
    };
}

Refusal belongs_to_vm(const Asked& asked) {
    if (asked.is_of_vm() || asked.view.gates.legacy) return {};
    for (const json::Value& owner : list_at(*asked.view.vmi, "/metadata/ownerReferences")) {
        if (!json::bool_at(owner, "/controller")) continue;
        if (json::text_at(owner, "/kind") != "VirtualMachine" ||
            json::text_at(owner, "/apiVersion") != "kubevirt.io/v1")
            continue;
        return bad_request(
            "the instance belongs to virtual machine " + quoted(json::text_at(owner, "/name")) +
            ": send the request to the virtual machine"
        );
    }
    return {};
}

Refusal is_not_running(const Asked& asked) {
    if (asked.is_of_vm() || json::text_at(*asked.view.vmi, "/status/phase") == "Running") return {};
    return conflict("VMI is not running");
}

Refusal is_closed(const Asked& asked) {
    constexpr std::string_view kSwitch = "/domain/devices/disableHotplug";
    const json::Value* vmi = running_machine(asked);
    const bool is_closed = json::bool_at(*asked.object(), asked.spec() + std::string(kSwitch)) ||
                           (vmi != nullptr && json::bool_at(*vmi, "/spec" + std::string(kSwitch)));
    if (!asked.is_add() || !is_closed) return {};
    return conflict("volumes cannot be plugged: spec.domain.devices.disableHotplug is true");
}

Refusal is_on_the_move(const Asked& asked) {
    // A queued request is refused when the queue is checked.
    if (asked.is_add() || asked.is_queued()) return {};
    const json::Value* vmi = running_machine(asked);
    if (vmi == nullptr || !is_migrating(*vmi)) return {};
    return conflict("a migration is in progress: try again when it is over");
}

Refusal is_taken(const Asked& asked) {
    if (!asked.is_add()) return {};
    const std::string source = asked.options->source();
    for (const json::Value& volume : asked.volumes()) {
        if (json::text_at(volume, "/name") == asked.name())
            return conflict("volume name [" + asked.name() + "] already exists");
        if (!source.empty() && source_of(volume) == source)
            return conflict("a volume with source [" + source + "] already exists");
    }
    return {};
}

// The volume that a removal means: by its name, else by that of its claim or DataVolume.
const json::Value* meant(const Asked& asked) {
    if (const json::Value* found = named(asked.volumes(), asked.name())) return found;
    const auto it = std::ranges::find_if(asked.volumes(), [&](const json::Value& volume) {
        return source_of(volume) == asked.name();
    });
    return it == asked.volumes().end() ? nullptr : &*it;
}

bool is_queued_already(const Asked& asked, std::string_view option) {
    return std::ranges::any_of(asked.queue(), [&](const json::Value& request) {
        return json::text_at(request, "/" + std::string(option) + "/name") == asked.name();
    });
}

Refusal cannot_be_removed(const Asked& asked) {
    if (asked.is_add()) return {};
    if (asked.is_queued() && is_queued_already(asked, "addVolumeOptions")) return {};  // the removal takes its place
    const json::Value* volume = meant(asked);
    if (volume == nullptr) return conflict("volume [" + asked.name() + "] does not exist");
    if (is_hotpluggable(*volume)) return {};
    return conflict("volume [" + asked.name() + "] is not hotpluggable");
}

Refusal waits_already(const Asked& asked) {
    if (!asked.is_queued()) return {};
    if (asked.is_add() && is_queued_already(asked, "addVolumeOptions"))
        return conflict("a request to add volume [" + asked.name() + "] already exists");
    if (is_queued_already(asked, "removeVolumeOptions"))
        return conflict("a request to remove volume [" + asked.name() + "] already exists");
    return {};
}

Refusal cannot_be_plugged(const Asked& asked) {
    if (!asked.is_add()) return {};
    std::vector<api::Cause> causes;
    if (const auto cause = check_new_name(asked.name(), "name")) causes.push_back(*cause);
    for (api::Cause& cause : check_new_disk(*asked.options->disk, "disk")) causes.push_back(std::move(cause));
    if (causes.empty()) return {};
    return invalid(std::move(causes));
}

struct Step {
    std::string_view spec;
    std::string_view name;
    Refusal (*refuses)(const Asked&);
};

constexpr Step kPipeline[] = {
    {"2.4-1",  "a-gate-is-on",          lacks_gate        },
    {"2.4-3",  "the-body-is-read",      body_is_unreadable},
    {"2.4-4",  "has-a-name",            lacks_name        },
    {"2.4-5",  "has-a-disk",            lacks_disk        },
    {"2.4-5",  "has-a-source",          lacks_source      },
    {"2.3",    "has-one-source",        has_two_sources   },
    {"2.4-6",  "is-there",              is_missing        },
    {"2.4-7",  "is-nobodys-instance",   belongs_to_vm     },
    {"2.4-8",  "runs",                  is_not_running    },
    {"R-20",   "takes-volumes",         is_closed         },
    {"R-24",   "stays-where-it-is",     is_on_the_move    },
    {"2.4-9",  "name-and-source-free",  is_taken          },
    {"2.4-10", "was-plugged",           cannot_be_removed },
    {"2.4-11", "nothing-waits-already", waits_already     },
    {"3.5",    "fits-a-running-guest",  cannot_be_plugged },
};

Decision decide(const RequestView& view, Verb verb) {
    const Asked asked{view, verb, view.body ? read_options(*view.body) : std::unexpected(view.body.error())};
    for (const Step& step : kPipeline) {
        Refusal refusal = step.refuses(asked);
        if (!refusal) continue;
        refusal->rule = step.name;
        return *std::move(refusal);
    }
    Decision out{.is_dry_run = asked.options->is_dry_run()};
    const json::Value& object = *asked.object();
    if (asked.is_add()) {
        out.patch = asked.is_queued() ? patch_to_queue_add(object, *asked.options)
                                      : patch_to_add(object, asked.spec(), *asked.options);
        out.warnings = warnings_of(*asked.options->disk, view.free_ports);
        return out;
    }
    const json::Value* volume = meant(asked);
    const std::string name(volume == nullptr ? asked.name() : json::text_at(*volume, "/name"));
    out.patch = asked.is_queued() ? patch_to_queue_remove(object, name) : patch_to_remove(object, asked.spec(), name);
    return out;
}

}  // namespace

Decision add_volume(const RequestView& view) { return decide(view, Verb::add); }
Decision remove_volume(const RequestView& view) { return decide(view, Verb::remove); }

std::vector<StepName> pipeline() {
    std::vector<StepName> out;
    for (const Step& step : kPipeline) out.push_back({step.spec, step.name});
    return out;
}

}  // namespace berth::hotplug
