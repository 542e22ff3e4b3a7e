// libvirt's calls on the disks of a running domain, and its errors as ours. Inside this folder only; they block.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <libvirt/libvirt.h>

#include "base/result.hpp"

namespace berth::launcher {

struct DomainCloser {
    void operator()(virDomainPtr domain) const { virDomainFree(domain); }
};
using Domain = std::unique_ptr<virDomain, DomainCloser>;

/// The calling thread's last error. unavailable: the connection is broken, nothing is known.
std::unexpected<Error> libvirt_error(std::string_view doing);

// The running domain decides. Its stored definition follows, and whatever it says is no error: a helper that died half
// way has left it as it was, and the next call puts it right.

Result<void> attach_disk(virDomainPtr domain, const std::string& device);
Result<void> ask_to_let_go(virDomainPtr domain, const std::string& alias);
Result<void> change_medium_of(virDomainPtr domain, const std::string& device);
Result<void> grow_disk(virDomainPtr domain, const std::string& target, std::int64_t size);
std::map<std::string, std::int64_t> sizes_of(virDomainPtr domain, const std::vector<std::string>& targets);

}  // namespace berth::launcher
