#include "node/edge/linux_plugs.hpp"

namespace berth::node {

Task<Result<std::vector<Plug>>> LinuxPlugs::look(PlugHost) { co_return std::vector<Plug>(); }

Task<Result<void>> LinuxPlugs::plug(PlugHost, Plug wanted) {
    co_return fail(ErrorKind::unavailable, "volume " + wanted.volume + " cannot be plugged on this node yet");
}

Task<Result<void>> LinuxPlugs::unplug(PlugHost, std::string) { co_return Result<void>(); }

Task<Result<void>> LinuxPlugs::unplug_all(PlugHost) { co_return Result<void>(); }

Task<Result<std::vector<PlugHost>>> LinuxPlugs::hosts() { co_return std::vector<PlugHost>(); }

}  // namespace berth::node
