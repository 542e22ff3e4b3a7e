// Documents and patches from strangers: parse, apply, print; what comes out must parse again.
#include <cstdlib>

#include "json/diff.hpp"
#include "json/json_patch.hpp"
#include "json/value.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(bytes), size);
    const std::size_t cut = text.find('\n');
    if (cut == std::string_view::npos) return 0;
    auto target = berth::json::parse(text.substr(0, cut));
    const auto patch = berth::json::parse(text.substr(cut + 1));
    if (!target || !patch) return 0;
    berth::json::Value merged = *target;
    berth::json::apply_merge_patch(merged, *patch);
    const auto difference = berth::json::merge_patch_between(*target, merged);
    if (!berth::json::parse(berth::json::print(merged))) std::abort();
    if (difference && !berth::json::parse(berth::json::print(*difference))) std::abort();
    static_cast<void>(berth::json::apply_json_patch(*target, *patch));
    return 0;
}
