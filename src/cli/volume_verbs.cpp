// berth addvolume and removevolume: plug a disk into a machine and take it out, with virtctl's flags and order of
// calls. Contract: docs/spec/hotplug.md 10
#include <cstdio>

#include "base/async/task_group.hpp"
#include "cli/client.hpp"
#include "cli/output.hpp"
#include "cli/volume_request.hpp"
#include "cli/volume_submit.hpp"
#include "cli/volume_wait.hpp"
#include "explain/line.hpp"
#include "explain/plug.hpp"

namespace berth::cli {
namespace {

struct Flags {
    Target target;
    std::string machine;
    VolumeFlags volume;
    std::string patience;  ///< "" = does not wait
    bool persists = false;
};

const char* kind_of(const MachineName& machine) { return machine.is_instance ? "VMI" : "VM"; }

// --- The verb
// ------------------------------------------------------------------------------------------------------------

int code_of(const Error& error) {
    switch (error.kind) {
        case ErrorKind::not_found: return kAbsent;
        case ErrorKind::conflict:
        case ErrorKind::already_exists: return kRefused;
        case ErrorKind::timeout: return kTimedOut;
        default: return kFailed;
    }
}

Task<void> follow_into(Client& client, Sights& sights, Plugging plugging, std::optional<Result<explain::View>>* out) {
    Result<explain::View> view = co_await follow_plug(client, sights, std::move(plugging));
    out->emplace(std::move(view));
}

/// The view once it is settled; none when the time is over first.
Task<Result<std::optional<explain::View>>> follow_within(
    Client& client, Sights& sights, Plugging plugging, Duration patience
) {
    std::optional<Result<explain::View>> out;
    Task<void> following = follow_into(client, sights, std::move(plugging), &out);
    const bool ended = co_await finishes_within(client.clock(), patience, std::move(following));
    if (!ended || !out) co_return std::optional<explain::View>();
    if (!*out) co_return std::unexpected(out->error());
    co_return std::optional<explain::View>(**out);
}

std::string outcome(const explain::View& view, const Plugging& plugging) {
    const std::string machine = kind_of(plugging.machine) + (" " + plugging.machine.name);
    if (plugging.goal == Goal::released) return "volume " + plugging.volume + " is out of " + machine;
    const api::VmVolumeStatus* status = explain::status_of(view, plugging.volume);
    if (status == nullptr || !explain::is_attached(view, plugging.volume)) {
        return machine + " does not run: volume " + plugging.volume + " is part of it from its next start";
    }
    return "volume " + plugging.volume + " is in the guest of " + machine + " as " + status->target;
}

// What -o prints: which machine took the request, and the volume's entry in its status.
json::Value document_of(const Plugging& plugging, const std::string& ns, const std::optional<explain::View>& view) {
    json::Object out{
        {"kind",      plugging.machine.is_instance ? "VirtualMachineInstance" : "VirtualMachine"},
        {"namespace", ns                                                                        },
        {"name",      plugging.machine.name                                                     },
        {"volume",    plugging.volume                                                           },
        {"request",   plugging.goal == Goal::attached ? "add" : "remove"                        },
    };
    const api::VmVolumeStatus* status = view ? explain::status_of(*view, plugging.volume) : nullptr;
    if (status != nullptr) {
        out["phase"] = status->phase;
        if (!status->target.empty()) out["target"] = status->target;
    }
    return json::Value(std::move(out));
}

int await_outcome(Client& client, Sights& sights, const Plugging& plugging, Duration patience, const Flags& flags) {
    const std::string what = "wait for volume \"" + plugging.volume + "\"";
    sights.watch_beside();
    const auto settled = client.wait(follow_within(client, sights, plugging, patience));
    if (client.was_stopped()) return complain(what + ": interrupted; the request stands", kTimedOut);
    if (!settled) {
        complain_about(what, settled.error(), client.server());
        return code_of(settled.error());
    }
    if (!*settled) {
        return complain(
            what + ": not done after " + flags.patience + "; the request stands. See `berth explain " +
                (plugging.machine.is_instance ? "vmi " : "vm ") + plugging.machine.name + "`",
            kTimedOut
        );
    }
    if (flags.target.output.empty()) {
        std::printf("%s\n", outcome(**settled, plugging).c_str());
    } else {
        std::fputs(format(document_of(plugging, client.ns(), *settled), flags.target.output).c_str(), stdout);
    }
    return kOk;
}

int run(VolumeVerb verb, const Flags& flags) {
    const std::string name = to_string(verb);
    const Result<MachineName> machine = read_machine({flags.machine});
    if (!machine) return complain(name + ": " + machine.error().message, kUsage);
    const bool waits = !flags.patience.empty();
    const Result<Duration> patience = read_patience(waits ? flags.patience : "0s");
    if (!patience) return complain(name + ": --wait: " + patience.error().message, kUsage);
    if (verb == VolumeVerb::add) {
        const Result<void> checked = check(flags.volume);
        if (!checked) return complain(name + ": " + checked.error().message, kUsage);
    }
    auto client = Client::open(flags.target);
    if (!client) return complain_about(name, client.error());
    if (flags.volume.dry_run) std::printf("Dry run: nothing is changed\n");
    const auto taken = (*client)->wait(submit_volume(**client, *machine, verb, flags.volume));
    if (!taken) {
        const char* const doing = verb == VolumeVerb::add ? "error adding volume" : "error removing volume";
        complain_about(name + " \"" + machine->name + "\": " + doing, taken.error(), (*client)->server());
        return code_of(taken.error());
    }
    const Plugging plugging{
        .machine = *taken,
        .volume = verb == VolumeVerb::add ? disk_name_of(flags.volume) : flags.volume.volume,
        .goal = verb == VolumeVerb::add ? Goal::attached : Goal::released
    };
    const bool ends_here = !waits || flags.volume.dry_run;
    if (flags.target.output.empty()) {
        std::printf(
            "%s volume request submitted to %s %s for volume %s\n",
            verb == VolumeVerb::add ? "add" : "remove",
            kind_of(*taken),
            taken->name.c_str(),
            flags.volume.volume.c_str()
        );
        std::fflush(stdout);
    } else if (ends_here) {
        std::fputs(format(document_of(plugging, (*client)->ns(), {}), flags.target.output).c_str(), stdout);
    }
    if (ends_here) return kOk;
    Sights sights(**client, (*client)->ns());
    (*client)->stops_on_signals();
    return await_outcome(**client, sights, plugging, *patience, flags);
}

constexpr const char* kExits =
    "Exit codes: 0 done; 1 the server refused it; 2 the command line; 3 --wait: not there in time (the request "
    "stands);\n"
    "4 the machine, the disk or the volume is not there; 5 not now: the name is taken, the machine does not run, or\n"
    "others changed it in each of 15 tries.\n";

CLI::App& add_verb(CLI::App& app, Work& work, VolumeVerb verb, const std::string& help, Flags*& out) {
    CLI::App* const sub = app.add_subcommand(to_string(verb), help);
    const auto flags = std::make_shared<Flags>();
    add_target(*sub, flags->target);
    add_output(*sub, flags->target);
    sub->add_option(
           "machine", flags->machine, "NAME: the VM, or the VMI when there is no such VM; vmi/NAME asks for it"
    )
        ->required();
    sub->add_option(
           "--volume-name",
           flags->volume.volume,
           verb == VolumeVerb::add ? "name of the DataVolume or PersistentVolumeClaim" : "name in the machine's volumes"
    )
        ->required();
    sub->add_flag("--dry-run", flags->volume.dry_run, "check it and change nothing");
    sub->add_flag("--persist", flags->persists, "deprecated and ignored: a volume of a VM always stays in the VM");
    sub->add_flag(
        "--wait{2m}",
        flags->patience,
        "wait until the guest has it or has let it go, at most so long (--wait=30s; 2m without a time)"
    );
    sub->callback([flags, verb, &work] { work = [flags, verb] { return run(verb, *flags); }; });
    out = flags.get();  // the callback keeps it alive
    return *sub;
}

}  // namespace

void add_volume_verbs(CLI::App& app, Work& work) {
    Flags* flags = nullptr;
    CLI::App& add = add_verb(app, work, VolumeVerb::add, "Plug a disk into a machine while it runs", flags);
    VolumeFlags& volume = flags->volume;
    add.add_option("--disk-name", volume.disk_name, "name of volume and disk in the machine (default: --volume-name)");
    add.add_option("--disk-type", volume.disk_type, "disk or lun")->capture_default_str();
    add.add_option("--bus", volume.bus, "scsi or virtio; a lun is on scsi")->capture_default_str();
    add.add_option("--serial", volume.serial, "serial number that the guest sees (default: the disk's name)");
    add.add_option("--cache", volume.cache, "none, writethrough or writeback (default: the launcher chooses)");
    add.footer(
        std::string(
            "Without --wait it returns when the request is accepted. With it the phases appear on standard error, "
            "and who must act.\n\n"
        ) +
        kExits +
        "\nExamples:\n"
        "  berth addvolume db --volume-name db-data --wait\n"
        "  berth addvolume db --volume-name db-data --serial D1 --bus virtio     then /dev/disk/by-id/virtio-D1\n"
        "  berth addvolume db --volume-name db-data --disk-name data --dry-run -n lab"
    );

    CLI::App& remove =
        add_verb(app, work, VolumeVerb::remove, "Take a plugged disk out of a machine while it runs", flags);
    remove.footer(
        std::string(
            "The guest is asked to let the disk go; with --wait it returns when the claim is free. Unmount it in the "
            "guest first.\n\n"
        ) +
        kExits +
        "\nExamples:\n"
        "  berth removevolume db --volume-name db-data --wait=30s\n"
        "  berth removevolume vmi/web --volume-name data -n lab"
    );
}

}  // namespace berth::cli
