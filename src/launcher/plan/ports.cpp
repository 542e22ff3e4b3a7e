// See ports.hpp.
#include "launcher/plan/ports.hpp"

#include <algorithm>

namespace berth::launcher {
namespace {

constexpr std::int64_t kBusesMax = 31;
constexpr Bytes kSmall = 2_GiB;

}  // namespace

std::int64_t root_ports(const PortFacts& facts) {
    if (facts.on_root_complex) return std::min(facts.in_use, kBusesMax);
    const std::int64_t wanted_slots = facts.interface_slots.value_or(facts.interfaces == 0 ? 0 : 4);
    const std::int64_t placeholders = std::max<std::int64_t>(0, wanted_slots - facts.interfaces);
    const bool is_small = facts.memory <= kSmall;
    const std::int64_t spare =
        is_small ? std::max<std::int64_t>(8 - facts.in_use, 3) : std::max<std::int64_t>(16 - facts.in_use, 6);
    const std::int64_t extra = std::max<std::int64_t>(0, spare - placeholders);
    return std::min(facts.in_use + placeholders + extra, kBusesMax);
}

}  // namespace berth::launcher
