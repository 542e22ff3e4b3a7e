// berth explain: where a machine stands, and who must act next.
#include <cstdio>

#include "api/codec.hpp"
#include "cli/client.hpp"
#include "cli/explain_view.hpp"

namespace berth::cli {
namespace {

template <class T>
Task<Result<std::vector<T>>> list(kube::Api api, const api::Kind& kind, std::string ns) {
    kube::ListOptions options;
    options.ns = std::move(ns);
    CO_TRY(const kube::Listing listing, co_await api.list(kind, options));
    std::vector<T> out;
    for (const kube::Document& item : listing.items) {
        if (auto object = api::decode<T>(*item)) out.push_back(std::move(*object));
    }
    co_return out;
}

Task<Result<void>> add_warnings(kube::Api api, std::string ns, explain::View& view) {
    kube::ListOptions options;
    options.ns = std::move(ns);
    options.field_selector = "type=Warning";
    CO_TRY(const kube::Listing events, co_await api.list(api::kEvent, options));
    std::map<std::string, std::string> newest;
    for (const kube::Document& event : events.items) {
        std::string kind(json::text_at(*event, "/involvedObject/kind"));
        std::ranges::transform(kind, kind.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        const std::string object = kind + "/" + std::string(json::text_at(*event, "/involvedObject/name"));
        const std::string at(json::text_at(*event, "/lastTimestamp"));
        if (at < newest[object]) continue;
        newest[object] = at;
        view.last_warnings[object] = std::string(json::text_at(*event, "/message"));
    }
    co_return Result<void>();
}

bool belongs_to(const api::Pod& pod, const explain::View& view) {
    if (view.vmi && pod.metadata.is_controlled_by(view.vmi->metadata.uid)) return true;
    return std::ranges::any_of(view.data_volumes, [&](const auto& dv) { return pod.metadata.name == "importer-" + dv.metadata.name; });
}

}  // namespace

Task<Result<explain::View>> read_view(kube::Api api, std::string ns, std::string name, Timestamp now) {
    explain::View view;
    view.now = now;
    CO_TRY(const auto machines, co_await list<api::VirtualMachine>(api, api::kVirtualMachine, ns));
    CO_TRY(const auto instances, co_await list<api::VirtualMachineInstance>(api, api::kVmi, ns));
    for (const auto& machine : machines) {
        if (machine.metadata.name == name) view.vm = machine;
    }
    for (const auto& instance : instances) {
        if (instance.metadata.name == name) view.vmi = instance;
    }
    if (!view.vm && !view.vmi) co_return fail(ErrorKind::not_found, "there is no virtual machine \"" + name + "\" in namespace \"" + ns + "\" (kubectl get vm -A lists all)");
    CO_TRY(view.data_volumes, co_await list<api::DataVolume>(api, api::kDataVolume, ns));
    CO_TRY(view.claims, co_await list<api::PersistentVolumeClaim>(api, api::kClaim, ns));
    CO_TRY(view.volumes, co_await list<api::PersistentVolume>(api, api::kVolume, ""));
    CO_TRY(view.nodes, co_await list<api::Node>(api, api::kNode, ""));
    CO_TRY(const auto pods, co_await list<api::Pod>(api, api::kPod, ns));
    // Only what the machine's own volumes name.
    const auto& volumes = view.vmi ? view.vmi->spec.volumes : view.vm->spec.vmi_template->spec.volumes;
    const auto is_named = [&](const std::string& claim) { return std::ranges::any_of(volumes, [&](const auto& v) { return v.claim_name() == claim; }); };
    std::erase_if(view.data_volumes, [&](const auto& dv) { return !is_named(dv.metadata.name); });
    for (const api::Pod& pod : pods) {
        if (belongs_to(pod, view)) view.pods.push_back(pod);
    }
    const Result<void> warned = co_await add_warnings(api, ns, view);
    CO_TRY_DO(warned);
    co_return view;
}

namespace {

struct Flags {
    Target target;
    std::string kind;
    std::string name;
};

int run(Flags flags) {
    if (flags.name.empty()) flags.name = std::exchange(flags.kind, "vm");
    if (flags.kind != "vm" && flags.kind != "vmi") return complain("explain: \"" + flags.kind + "\" cannot be explained: use vm or vmi", kUsage);
    auto client = Client::open(flags.target);
    if (!client) return complain(client.error().message);
    const Timestamp now = (*client)->clock().now();
    const Result<explain::View> view = (*client)->wait(read_view((*client)->api(), (*client)->ns(), flags.name, now));
    if (!view) return complain("explain: " + view.error().message);
    const std::vector<explain::Line> lines = explain::chain(*view);
    if (flags.target.output.empty()) {
        std::fputs(explain::print(lines, now).c_str(), stdout);
    } else {
        print_document(explain::to_json(lines), flags.target.output);
    }
    return kOk;
}

}  // namespace

void add_explain(CLI::App& app, Work& work) {
    auto* const verb = app.add_subcommand("explain", "Where a machine stands, and who must act next");
    const auto flags = std::make_shared<Flags>();
    verb->add_option("kind", flags->kind, "vm or vmi, or the name alone")->required();
    verb->add_option("name", flags->name, "name of the machine");
    add_target(*verb, flags->target);
    add_output(*verb, flags->target);
    verb->footer(
        "✓ done   · waits   → must act next   ✗ failed\n\nExamples:\n  berth explain vm db\n  berth explain vm db -o json"
    );
    verb->callback([flags, &work] { work = [flags] { return run(*flags); }; });
}

}  // namespace berth::cli
