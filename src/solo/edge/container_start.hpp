// Starting a container, step by step, so that it may be repeated after a kill at any of them. Blocks.
#pragma once

#include "solo/edge/conmon.hpp"
#include "solo/edge/images.hpp"

namespace berth::solo {

/// What the machine gives to every container.
struct Machine {
    DataPaths paths;
    std::string program;  ///< "" = none
    std::string boot;
    std::int64_t open_files_max = 1024;
    std::vector<std::string> capabilities;
    std::string accelerator;  ///< "kvm", "tcg": what VM pods are told; "" = they look themselves
};

/// Looks at this process and the machine.
Machine this_machine(const DataDir& data);

/// Makes sure that the container has been started once: one that runs or has ended is left as it is.
/// Errors  not_found: image or device; invalid: the runtime refuses the program; io
Result<ContainerRecord> start_container(
    const Conmon& conmon,
    const Machine& machine,
    const Image& image,
    const NodeDir& node,
    const ContainerSpec& spec,
    Timestamp now
);

}  // namespace berth::solo
