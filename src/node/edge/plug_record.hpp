// The record of a machine's plugs on its node: written before the act, so that a restart finds all that may be there.
// Contract: docs/spec/hotplug.md 7.7
#pragma once

#include <cstdint>

#include "node/plugs.hpp"

namespace berth::node {

struct PlugEntry {
    Plug plug;                 ///< `in_place` is not recorded: only the kernel knows
    std::string target;        ///< absolute path of the file or node
    std::uint64_t device = 0;  ///< of a block plug: its rdev; of a file: the file system it lies on
    std::uint64_t inode = 0;   ///< of a file
    bool operator==(const PlugEntry&) const = default;
};

struct PlugRecord {
    PlugHost host;
    std::string boot;  ///< the kernel's boot id: numbers of devices are not true after it
    std::vector<PlugEntry> entries;
    bool operator==(const PlugRecord&) const = default;

    [[nodiscard]] PlugEntry* find(std::string_view volume);
};

std::string print(const PlugRecord& record);
/// Errors  invalid: damaged, or of another form
Result<PlugRecord> parse_record(std::string_view text);

}  // namespace berth::node
