#include "apiserver/machines.hpp"

#include "apiserver/body.hpp"
#include "apiserver/patches.hpp"
#include "apiserver/surroundings.hpp"
#include "apiserver/write.hpp"
#include "json/json_patch.hpp"

namespace berth::apiserver {
namespace {

kube::Response no_machine(const api::Kind& kind, const std::string& name) {
    json::Object details{
        {"name",  name         },
        {"group", kind.group   },
        {"kind",  kind.singular}
    };
    const std::string qualified = std::string(kind.singular) + "." + std::string(kind.group);
    return failure(404, "NotFound", qualified + " " + quoted(name) + " not found", std::move(details));
}

kube::Response refused(const SubresourceAnswer& decided, const api::Kind& kind, const std::string& name) {
    json::Object details{
        {"name",  name         },
        {"group", kind.group   },
        {"kind",  kind.singular}
    };
    if (!decided.causes.empty()) return invalid(kind, name, decided.causes);
    std::string message = decided.message;
    if (decided.reason == "Conflict") {
        message = "Operation cannot be fulfilled on " + std::string(kind.singular) + "." + std::string(kind.group) +
                  " " + quoted(name) + ": " + message;
    }
    return failure(decided.code, decided.reason, std::move(message), std::move(details));
}

const kube::User kSelf{
    "system:serviceaccount:kubevirt:kubevirt-apiserver", {"system:serviceaccounts", "system:authenticated"}
};

// Applies the verb's patch to one of the two objects, as it is now. None: it went well, or there was nothing to do.
Task<std::optional<kube::Response>> apply(
    Core& core, const api::Kind& kind, const Call& call, std::optional<json::Value> operations, bool is_dry_run
) {
    const store::RecordPtr record = core.store.newest(key_for(kind, call.target.ns, call.target.name));
    if (!operations || !record) co_return std::nullopt;
    json::Value object = record->document;
    const Result<void> done = json::apply_json_patch(object, *operations);
    if (!done) co_return unfit_patch();  // another writer was faster
    // A verb may change what its user may not touch directly: the server makes the change in its own name.
    Amendment amendment{&kind, Scope::whole, is_dry_run, kSelf};
    kube::Response response = co_await amend(core, std::move(amendment), record, std::move(object));
    if (response.code < 300) co_return std::nullopt;
    co_return response;
}

// Paths below the group that name no machine.
std::optional<kube::Response> group_answer(const Core& core, const Call& call) {
    if (!call.target.ns.empty()) return {};
    if (call.target.resource == "version") {
        return answer(json::Value(json::Object{
            {"gitVersion",   core.options.git_version},
            {"gitTreeState", "clean"                 },
            {"platform",     "linux/amd64"           }
        }));
    }
    if (call.target.resource == "healthz") return plain_text(200, "ok");
    return no_such_resource();
}

}  // namespace

Task<kube::Response> handle_machine(Core& core, Call call) {
    if (auto early = group_answer(core, call)) co_return *std::move(early);
    const Target& target = call.target;
    const bool is_vm = target.resource == api::kVirtualMachine.plural;
    const api::Kind& kind = is_vm ? api::kVirtualMachine : api::kVmi;
    const auto verb = core.options.subresources.find({target.resource, target.subresource});
    if (verb == core.options.subresources.end()) co_return no_such_resource();
    if (call.request.body.size() > kBodyBytesMax) co_return too_large();

    const store::RecordPtr vm = core.store.newest(key_for(api::kVirtualMachine, target.ns, target.name));
    const Around seen = around(core, api::kVirtualMachine, target.ns, target.name);
    SubresourceView view;
    view.method = call.request.method;
    view.ns = target.ns;
    view.name = target.name;
    view.vm = document_of(vm);
    view.vmi = document_of(seen.vmi);
    view.kubevirt = document_of(seen.kubevirt);
    view.body = read_any(call.request);
    view.user = call.request.user;
    view.now = core.clock.now();
    SubresourceAnswer decided = verb->second(view);
    if (decided.code >= 400) co_return refused(decided, kind, target.name);
    // The two changes are two writes; the machine's comes first, because its controller makes the other true.
    auto failed = co_await apply(core, api::kVirtualMachine, call, std::move(decided.vm_patch), decided.is_dry_run);
    if (failed) co_return *std::move(failed);
    failed = co_await apply(core, api::kVmi, call, std::move(decided.vmi_patch), decided.is_dry_run);
    if (failed) co_return *std::move(failed);
    kube::Response done;
    if (decided.body) done = answer(*std::move(decided.body));
    done.code = decided.code;
    done.warnings = std::move(decided.warnings);
    co_return done;
}

Task<kube::Answer<kube::Duplex>> open_console(Core& core, Call call) {
    const Target& target = call.target;
    if (target.resource != api::kVmi.plural) co_return refuse(no_such_resource());
    const store::RecordPtr vmi = core.store.get(key_for(api::kVmi, target.ns, target.name));
    if (!vmi) co_return refuse(no_machine(api::kVmi, target.name));
    const std::string phase(json::text_at(vmi->document, "/status/phase"));
    if (phase != "Running") {
        co_return refuse(bad_request("VMI is not running: its phase is " + quoted(phase) + "; wait until it is Running")
        );
    }
    if (core.options.streams == nullptr) co_return refuse(not_implemented("consoles are not offered by this server"));
    auto console = co_await core.options.streams->console(target.ns, target.name);
    if (console) co_return *std::move(console);
    if (console.error().kind == ErrorKind::not_found) co_return refuse(no_machine(api::kVmi, target.name));
    co_return refuse(
        bad_request("the console of " + quoted(target.name) + " cannot be reached: " + console.error().message)
    );
}

}  // namespace berth::apiserver
