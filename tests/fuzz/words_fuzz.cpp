// Quantities and times as people write them: never a crash, and what is printed reads back.
#include <cstdlib>

#include "base/quantity.hpp"
#include "base/time.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(bytes), size);
    if (const auto amount = berth::to_bytes({text}); amount && amount->value > 0 && amount->value < (1LL << 50)) {
        if (berth::to_bytes(berth::quantity_of(*amount)) != *amount) std::abort();
    }
    if (const auto at = berth::from_rfc3339(text)) {
        if (at->time_since_epoch() > std::chrono::hours(0) && berth::from_rfc3339(berth::to_rfc3339_micro(*at)) != *at)
            std::abort();
    }
    return 0;
}
