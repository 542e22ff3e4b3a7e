// See accelerator.hpp.
#include "launcher/plan/accelerator.hpp"

#include <span>

namespace berth::launcher {
namespace {

struct Row {
    bool (*when)(const AcceleratorFacts&);
    Accelerator then;
    std::string_view why;
};

// The first row that applies decides.
constexpr Row kChoices[] = {
    {[](const auto& f) { return f.wish == "kvm"; },                      Accelerator::kvm, "asked for"                              },
    {[](const auto& f) { return f.wish == "tcg"; },                      Accelerator::tcg, "asked for"                              },
    {[](const auto& f) { return f.has_virtualization && f.kvm_opens; },
     Accelerator::kvm,
     "the processor has it and /dev/kvm opens"                                                                                      },
    {[](const auto& f) { return f.has_virtualization && !f.kvm_opens; }, Accelerator::tcg, "/dev/kvm does not open"                 },
    {[](const auto& f) { return !f.has_virtualization && f.kvm_opens; },
     Accelerator::tcg,
     "/dev/kvm opens, but the processor shows neither vmx nor svm"                                                                  },
    {[](const auto&) { return true; },                                   Accelerator::tcg, "the processor shows neither vmx nor svm"},
};

}  // namespace

std::string_view to_string(Accelerator accelerator) { return accelerator == Accelerator::kvm ? "kvm" : "tcg"; }

AcceleratorChoice choose_accelerator(const AcceleratorFacts& facts) {
    for (const Row& row : kChoices) {
        if (row.when(facts)) return {row.then, std::string(row.why)};
    }
    return {};
}

bool shows_virtualization(std::string_view cpuinfo) {
    // "flags		: fpu vme …"; each flag stands between blanks.
    for (std::size_t at = 0; at < cpuinfo.size();) {
        const std::size_t end = std::min(cpuinfo.find('\n', at), cpuinfo.size());
        const std::string line = std::string(cpuinfo.substr(at, end - at)) + ' ';
        if (line.starts_with("flags") && (line.find(" vmx ") != line.npos || line.find(" svm ") != line.npos))
            return true;
        at = end + 1;
    }
    return false;
}

}  // namespace berth::launcher
