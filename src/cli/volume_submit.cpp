#include "cli/volume_submit.hpp"

#include <cstdio>

#include "base/async/system/system.hpp"

namespace berth::cli {
namespace {

// What an API server says when a test of a JSON patch fails: somebody else changed the machine meanwhile.
constexpr const char* kConcurrent = "the server rejected our request due to an error in our request";
constexpr int kTriesMax = 15;

Task<Result<bool>> exists(kube::Api api, const api::Kind& kind, std::string ns, std::string name) {
    api::Key key{&kind, std::move(ns), std::move(name)};
    const Result<kube::Document> found = co_await api.get(std::move(key));
    if (!found && found.error().kind != ErrorKind::not_found) co_return std::unexpected(found.error());
    co_return found.has_value();
}

// Where a disk of that name is, if it is in another namespace: a common slip. "" when nowhere, or we may not look.
Task<std::string> elsewhere(kube::Api api, std::string name) {
    for (const api::Kind* const kind : {&api::kDataVolume, &api::kClaim}) {
        kube::ListOptions named;
        named.field_selector = "metadata.name=" + name;
        const Result<kube::Listing> found = co_await api.list(*kind, std::move(named));
        if (found && !found->items.empty()) {
            const std::string ns(json::text_at(*found->items.front(), "/metadata/namespace"));
            co_return "; there is a " + std::string(kind->kind) + " of that name in namespace \"" + ns +
                "\", and a machine can use disks of its own namespace only";
        }
    }
    co_return "";
}

/// Errors  not_found: neither a DataVolume nor a claim
Task<Result<DiskSource>> find_source(kube::Api api, std::string ns, std::string name) {
    CO_TRY(const bool is_data_volume, co_await exists(api, api::kDataVolume, ns, name));
    if (is_data_volume) co_return DiskSource::data_volume;
    CO_TRY(const bool is_claim, co_await exists(api, api::kClaim, ns, name));
    if (is_claim) co_return DiskSource::claim;
    const std::string hint = co_await elsewhere(api, name);
    co_return fail(
        ErrorKind::not_found,
        "\"" + name + "\" is neither a DataVolume nor a PersistentVolumeClaim in namespace \"" + ns + "\"" + hint
    );
}

/// One try: the VM, and when there is none of that name the VMI. The kind that took it.
Task<Result<MachineName>> submit_once(Client& client, MachineName machine, std::string verb, std::string body) {
    const std::string base = "/apis/subresources.kubevirt.io/v1/namespaces/" + client.ns() + "/";
    if (!machine.is_instance) {
        const Result<void> done =
            co_await put_verb(client.api(), base + "virtualmachines/" + machine.name + "/" + verb, body);
        if (done) co_return machine;
        if (done.error().kind != ErrorKind::not_found) co_return std::unexpected(done.error());
        machine.is_instance = true;
    }
    CO_TRY_DO(co_await put_verb(client.api(), base + "virtualmachineinstances/" + machine.name + "/" + verb, body));
    co_return machine;
}

/// Again, after a moment that grows, while others change the machine at the same time.
Task<Result<MachineName>> submit(Client& client, MachineName machine, std::string verb, std::string body) {
    SystemEntropy entropy;
    for (int attempt = 1; attempt <= kTriesMax; ++attempt) {
        Result<MachineName> done = co_await submit_once(client, machine, verb, body);
        if (done || done.error().message != kConcurrent) co_return done;
        const auto pause = std::chrono::milliseconds(attempt * static_cast<int>(entropy.next() % 4));
        if (attempt < kTriesMax) co_await client.clock().sleep_for(pause);
    }
    co_return fail(
        ErrorKind::conflict,
        "the machine was changed by others at the same moment in " + std::to_string(kTriesMax) + " tries: try again"
    );
}

}  // namespace

const char* to_string(VolumeVerb verb) { return verb == VolumeVerb::add ? "addvolume" : "removevolume"; }

Task<Result<MachineName>> submit_volume(Client& client, MachineName machine, VolumeVerb verb, VolumeFlags flags) {
    json::Value body = remove_body(flags);
    if (verb == VolumeVerb::add) {
        CO_TRY(const DiskSource source, co_await find_source(client.api(), client.ns(), flags.volume));
        body = add_body(flags, source);
    }
    std::string text = json::print(body);
    co_return co_await submit(client, std::move(machine), to_string(verb), std::move(text));
}

}  // namespace berth::cli
