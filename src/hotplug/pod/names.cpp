#include "hotplug/pod/names.hpp"

#include "base/hash.hpp"
#include "base/ranges.hpp"

namespace berth::hotplug {

std::string pod_name(
    const Uid& launcher, Purpose purpose, const std::vector<Mounted>& mounted, const std::vector<std::string>& taken
) {
    std::vector<std::string> pairs;
    for (const Mounted& one : mounted) pairs.push_back(one.volume + "=" + one.claim->metadata.uid.value);
    std::ranges::sort(pairs);
    std::string identity = launcher.value + (purpose == Purpose::attach ? "\nattach" : "\ntrigger");
    for (const std::string& pair : pairs) identity += "\n" + pair;
    for (int n = 0;; ++n) {
        // Two hashes: five characters are too few for the pods of a large namespace.
        const std::string seed = identity + "\n" + std::to_string(n);
        std::string name = "hp-volume-" + short_hash("1" + seed) + short_hash("2" + seed);
        if (!contains(taken, name)) return name;
    }
}

}  // namespace berth::hotplug
