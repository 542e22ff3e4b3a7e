#include <algorithm>
#include <cstdio>

#include "cli/console_link.hpp"
#include "cli/demo/acts.hpp"
#include "cli/demo/guest_shell.hpp"
#include "cli/demo/machine.hpp"
#include "cli/volume_submit.hpp"

namespace berth::cli {
namespace {

constexpr Duration kPatience = std::chrono::minutes(5);
constexpr const char* kNote = "still here";
constexpr const char* kDisks[] = {"demo-files", "demo-block"};

// --- What the API shows
// -----------------------------------------------------------------------------------------------------

const json::Array& items(const kube::Document& document, std::string_view pointer) {
    static const json::Value absent;
    return json::list_at(document ? *document : absent, pointer);
}

const json::Value* find_named(const json::Array& list, std::string_view key, std::string_view name) {
    const auto it =
        std::ranges::find_if(list, [&](const json::Value& item) { return json::text_at(item, key) == name; });
    return it == list.end() ? nullptr : &*it;
}

// The target of a volume that its guest has; "" before that.
std::string target_of(Stage& stage, const std::string& volume) {
    const kube::Document machine = stage.find(api::kVmi, kDemoInstance);
    const json::Value* entry = find_named(items(machine, "/status/volumeStatus"), "/name", volume);
    if (entry == nullptr || json::text_at(*entry, "/phase") != "Ready") return "";
    return std::string(json::text_at(*entry, "/target"));
}

bool is_gone(Stage& stage, const std::string& volume) {
    const kube::Document machine = stage.find(api::kVmi, kDemoInstance);
    return find_named(items(machine, "/status/volumeStatus"), "/name", volume) == nullptr &&
           find_named(items(machine, "/spec/volumes"), "/name", volume) == nullptr;
}

std::string phase_of(Stage& stage, const api::Kind& kind, const std::string& name) {
    const kube::Document object = stage.find(kind, name);
    return object ? std::string(json::text_at(*object, "/status/phase")) : "";
}

Result<void> expect(bool is_so, const std::string& what, const std::string& shown) {
    if (is_so) return {};
    return fail(ErrorKind::invalid, what + ", but it shows: " + shown);
}

std::string condition(Stage& stage, const std::string& type) {
    const kube::Document machine = stage.find(api::kVmi, kDemoInstance);
    const json::Value* found = find_named(items(machine, "/status/conditions"), "/type", type);
    if (found == nullptr) return "(none)";
    return std::string(json::text_at(*found, "/status")) + " " + std::string(json::text_at(*found, "/reason"));
}

// --- What the guest shows
// ---------------------------------------------------------------------------------------------------

// Asks, shows question and answer, and wants to read `wanted` in it, or not to read it at all.
enum class Wanted { there, absent };

Task<Result<void>> ask(Stage& stage, GuestShell& shell, std::string line, Wanted wanted, std::string words) {
    CO_TRY(const std::string answer, co_await shell.ask(line));
    stage.quote(line, answer);
    const bool is_there = answer.find(words) != std::string::npos;
    const std::string verb = wanted == Wanted::there ? "should show" : "should not show";
    co_return expect(is_there == (wanted == Wanted::there), "`" + line + "` " + verb + " \"" + words + "\"", answer);
}

// --- The story of one disk
// --------------------------------------------------------------------------------------------------

struct Times {
    Duration plugged, unplugged, again;
};

double seconds(Duration span) { return std::chrono::duration<double>(span).count(); }

MachineName machine() { return {true, kDemoInstance}; }

/// The target that the guest gave it.
Task<Result<std::string>> plug(Stage& stage, GuestShell& shell, VolumeFlags flags, Duration* took) {
    const std::string volume = flags.volume;
    const std::string serial = flags.serial;
    const Monotonic asked = stage.now();
    shell.listen();
    stage.say(
        "$ berth addvolume " + (kDemoInstance + (" --volume-name " + volume)) +
        (serial.empty() ? "" : " --serial " + serial)
    );
    CO_TRY(
        const MachineName taken, co_await submit_volume(stage.client(), machine(), VolumeVerb::add, std::move(flags))
    );
    static_cast<void>(taken);
    std::function<bool()> until = [&] { return !target_of(stage, volume).empty(); };
    co_await stage.show_until(std::move(until));
    std::string target = target_of(stage, volume);
    CO_TRY_DO(co_await shell.hear("BLK add " + target));
    stage.say("the guest says: " + target + " is there");
    *took = stage.now() - asked;
    co_return target;
}

Task<Result<void>> unplug(Stage& stage, GuestShell& shell, std::string volume, std::string target, Duration* took) {
    VolumeFlags flags;
    flags.volume = volume;
    const Monotonic asked = stage.now();
    shell.listen();
    stage.say("$ berth removevolume " + (kDemoInstance + (" --volume-name " + volume)));
    CO_TRY(
        const MachineName taken, co_await submit_volume(stage.client(), machine(), VolumeVerb::remove, std::move(flags))
    );
    static_cast<void>(taken);
    std::function<bool()> until = [&] { return is_gone(stage, volume); };
    co_await stage.show_until(std::move(until));
    *took = stage.now() - asked;
    CO_TRY_DO(co_await shell.hear("BLK remove " + target));
    stage.say("the guest says: " + target + " is gone");
    co_return Result<void>{};
}

// An attachment or trigger pod of the volume is there; other volumes have pods of their own.
bool has_plug_pod(Stage& stage, const std::string& volume) {
    const auto is_of_it = [&volume](const json::Value& pod) {
        if (json::text_at(pod, "/metadata/labels/kubevirt.io") != "hotplug-disk") return false;
        const json::Value* volumes = json::find(pod, "/spec/volumes");
        return volumes != nullptr && volumes->is_array() &&
               find_named(volumes->get_array(), "/name", volume) != nullptr;
    };
    return stage.sights().count_if(api::kPod, is_of_it) > 0;
}

Task<Result<void>> write_a_note(Stage& stage, GuestShell& shell, std::string serial) {
    const std::string link = "$L/*-0*_" + serial;
    CO_TRY_DO(co_await ask(stage, shell, "ls $L", Wanted::there, serial));
    CO_TRY_DO(co_await ask(stage, shell, "mke2fs " + link + " >/dev/null; echo rc=$?", Wanted::there, "rc=0"));
    CO_TRY_DO(co_await ask(stage, shell, "mkdir -p /mnt; mount " + link + " /mnt", Wanted::absent, "failed"));
    co_return co_await ask(
        stage, shell, "echo '" + std::string(kNote) + "' >/mnt/note; umount /mnt", Wanted::absent, "rror"
    );
}

Task<Result<Times>> story(Stage& stage, GuestShell& shell, std::string name, std::string mode) {
    Times times{};
    CO_TRY_DO(co_await stage.client().api().create(demo_disk(name, mode)));
    std::function<bool()> waits = [&] { return phase_of(stage, api::kDataVolume, name) == "WaitForFirstConsumer"; };
    co_await stage.show_until(std::move(waits));

    VolumeFlags flags;
    flags.volume = name;
    CO_TRY(const std::string target, co_await plug(stage, shell, flags, &times.plugged));
    const std::string migratable = condition(stage, "LiveMigratable");
    CO_TRY_DO(
        expect(migratable == "False DisksNotLiveMigratable", "a local disk should stop live migration", migratable)
    );
    CO_TRY_DO(co_await write_a_note(stage, shell, name));

    CO_TRY_DO(co_await unplug(stage, shell, name, target, &times.unplugged));
    std::function<bool()> tidy = [&] { return !has_plug_pod(stage, name); };
    co_await stage.show_until(std::move(tidy));
    CO_TRY_DO(co_await ask(stage, shell, "ls /dev/disk/by-id /sys/block", Wanted::absent, name));

    flags.serial = "second-" + mode.substr(0, 5);
    CO_TRY(const std::string again, co_await plug(stage, shell, flags, &times.again));
    const std::string link = "$L/*-0*_" + flags.serial;
    CO_TRY_DO(co_await ask(stage, shell, "mount " + link + " /mnt; cat /mnt/note", Wanted::there, kNote));
    CO_TRY_DO(co_await ask(stage, shell, "umount /mnt; ls $L", Wanted::there, flags.serial));
    co_return times;
}

Task<Result<std::unique_ptr<kube::Duplex>>> boot(Stage& stage) {
    CO_TRY_DO(co_await stage.client().api().create(demo_instance()));
    std::function<bool()> runs = [&stage] { return phase_of(stage, api::kVmi, kDemoInstance) == "Running"; };
    co_await stage.show_until(std::move(runs));
    co_return co_await open_console(stage.client().http(), stage.client().clock(), "default", kDemoInstance, kPatience);
}

}  // namespace

Task<Result<void>> plug_act(Stage& stage) {
    CO_TRY(std::unique_ptr<kube::Duplex> console, co_await boot(stage));
    GuestShell shell(std::move(console), stage.client().clock());
    CO_TRY_DO(co_await shell.await_prompt());
    stage.say("guest shell answers");
    CO_TRY_DO(co_await ask(stage, shell, "L=/dev/disk/by-id; ls $L; ls /sys/block", Wanted::there, "vdb"));
    CO_TRY_DO(co_await ask(stage, shell, "ls $L /sys/block", Wanted::absent, "sda"));

    CO_TRY(const Times files, co_await story(stage, shell, kDisks[0], "Filesystem"));
    CO_TRY(const Times block, co_await story(stage, shell, kDisks[1], "Block"));
    std::printf("\n%-52s %12s %12s\n", "", kDisks[0], kDisks[1]);
    const auto row = [](const char* what, Duration a, Duration b) {
        std::printf("%-52s %10.2f s %10.2f s\n", what, seconds(a), seconds(b));
    };
    row("addvolume, disk made and filled, seen by the guest", files.plugged, block.plugged);
    row("removevolume, let go by the guest, claim free", files.unplugged, block.unplugged);
    row("addvolume again, seen by the guest", files.again, block.again);
    std::printf("\n");
    co_return Result<void>{};
}

Task<Result<void>> end_plug_act(Stage& stage) {
    api::Key key{&api::kVmi, "default", kDemoInstance};
    const Result<void> removed = co_await stage.client().api().remove(std::move(key));
    if (!removed && removed.error().kind != ErrorKind::not_found) co_return removed;
    for (const char* const disk : kDisks) {
        api::Key made{&api::kDataVolume, "default", disk};
        const Result<void> gone = co_await stage.client().api().remove(std::move(made));
        if (!gone && gone.error().kind != ErrorKind::not_found) co_return gone;
    }
    std::function<bool()> until = [&stage] {
        return !stage.find(api::kVmi, kDemoInstance) && std::ranges::none_of(kDisks, [&stage](const char* disk) {
            return has_plug_pod(stage, disk) || stage.find(api::kClaim, disk) != nullptr;
        });
    };
    co_await stage.show_until(std::move(until));
    co_return Result<void>{};
}

}  // namespace berth::cli
