// Which accelerator a guest gets. A device node named /dev/kvm is no proof that guests run on it.
#pragma once

#include <string>
#include <string_view>

namespace berth::launcher {

enum class Accelerator { kvm, tcg };

std::string_view to_string(Accelerator accelerator);

/// What was found on this machine.
struct AcceleratorFacts {
    std::string wish;                 ///< "kvm", "tcg"; "" or "auto": we choose
    bool has_virtualization = false;  ///< the processor's flags show vmx or svm
    bool kvm_opens = false;           ///< /dev/kvm could be opened for reading and writing
    bool allows_emulation = true;     ///< without KVM, emulate rather than refuse
    bool operator==(const AcceleratorFacts&) const = default;
};

struct AcceleratorChoice {
    Accelerator accelerator = Accelerator::tcg;
    std::string why;  ///< for the one log line that says it
    bool operator==(const AcceleratorChoice&) const = default;
};

/// KVM only where the processor's flags show vmx or svm and the device opens: a device that opens without them was seen
/// to hang every unmodified kernel (qemu-facts.md 0). A person's wish wins.
AcceleratorChoice choose_accelerator(const AcceleratorFacts& facts);

/// Whether the text of /proc/cpuinfo lists vmx or svm among its flags.
bool shows_virtualization(std::string_view cpuinfo);

}  // namespace berth::launcher
