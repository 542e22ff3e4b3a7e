#include "cli/words.hpp"

#include <charconv>

namespace berth::cli {
namespace {

// 0: a VM, 1: a VMI, -1: no kind of machine.
int kind_of(const std::string& word) {
    for (const char* const name : {"vm", "vms", "virtualmachine", "virtualmachines"}) {
        if (word == name) return 0;
    }
    for (const char* const name : {"vmi", "vmis", "virtualmachineinstance", "virtualmachineinstances"}) {
        if (word == name) return 1;
    }
    return -1;
}

}  // namespace

Result<MachineName> read_machine(const std::vector<std::string>& words) {
    std::string kind = "vm";
    std::string name;
    if (words.size() == 1) {
        name = words[0];
        if (const std::size_t slash = name.find('/'); slash != std::string::npos) {
            kind = name.substr(0, slash);
            name.erase(0, slash + 1);
        }
    } else if (words.size() == 2) {
        kind = words[0];
        name = words[1];
    } else {
        return fail(ErrorKind::invalid, "give one machine: NAME, vm NAME or vmi NAME");
    }
    const int is_instance = kind_of(kind);
    if (is_instance < 0) return fail(ErrorKind::invalid, "\"" + kind + "\" is no kind of machine: use vm or vmi");
    if (name.empty() || name.find('/') != std::string::npos) {
        return fail(ErrorKind::invalid, "\"" + name + "\" is no name of a machine: use vm NAME or vmi NAME");
    }
    return MachineName{is_instance == 1, name};
}

Result<Duration> read_patience(const std::string& text) {
    std::int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [next, error] = std::from_chars(text.data(), end, number);
    const std::string unit(next, end);
    const bool is_sane = error == std::errc{} && number >= 0 && number < 1'000'000;
    if (is_sane && unit == "s") return Duration(std::chrono::seconds(number));
    if (is_sane && (unit == "m" || unit.empty())) return Duration(std::chrono::minutes(number));
    if (is_sane && unit == "h") return Duration(std::chrono::hours(number));
    return fail(ErrorKind::invalid, "\"" + text + "\" is no length of time: write 90s, 5m or 1h");
}

}  // namespace berth::cli
