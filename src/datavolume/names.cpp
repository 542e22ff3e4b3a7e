#include "datavolume/names.hpp"

#include <cstdio>

#include "base/hash.hpp"

namespace berth::datavolume {

std::string importer_name(const std::string& claim) {
    constexpr std::size_t kNameMax = 253;
    const std::string prefix = "importer-";
    if (prefix.size() + claim.size() <= kNameMax) return prefix + claim;
    char hash[9];
    std::snprintf(hash, sizeof hash, "%08x", fnv1a32(claim));
    return (prefix + claim).substr(0, kNameMax - 9) + "-" + hash;
}

}  // namespace berth::datavolume
