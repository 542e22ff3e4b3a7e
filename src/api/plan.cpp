#include "api/plan.hpp"

namespace berth::api {
namespace {

std::string line(const Create& create) { return "create " + print(key_of(create.document)); }

std::string line(const Patch& patch) {
    return "patch " + print(patch.key) + (patch.part == Part::status ? " status " : " ") + json::print(patch.patch);
}

std::string line(const Delete& remove) {
    std::string text = "delete " + print(remove.key);
    if (remove.grace_seconds) text += " grace " + std::to_string(*remove.grace_seconds);
    return text;
}

std::string line(const Emit& event) {
    return std::string("event ") + (event.is_warning ? "Warning " : "Normal ") + event.reason + " on " +
           print(event.about) + ": " + event.message;
}

std::string line(const Bind& bind) { return "bind " + print(bind.pod) + " to " + bind.node; }

std::string line(const Effect& effect) { return effect.verb + " " + effect.on; }

}  // namespace

std::string print(const Intent& intent) {
    return std::visit([](const auto& one) { return line(one); }, intent);
}

std::string print(const std::vector<Intent>& intents) {
    std::string text;
    for (const Intent& intent : intents) {
        if (!text.empty()) text += '\n';
        text += print(intent);
    }
    return text;
}

std::string print(const Wait& wait) {
    std::string text = "waits for " + wait.who;
    if (wait.on.kind != nullptr) text += " on " + print(wait.on);
    return text + ": " + wait.why;
}

}  // namespace berth::api
