// See libvirt_disks.hpp.
#include "launcher/edge/libvirt_disks.hpp"

#include <libvirt/virterror.h>

#include "launcher/edge/stray_disk.hpp"
#include "launcher/plan/live.hpp"

namespace berth::launcher {

std::unexpected<Error> libvirt_error(std::string_view doing) {
    const virError* const error = virGetLastError();
    std::string message = error == nullptr || error->message == nullptr ? "unknown error" : error->message;
    while (!message.empty() && message.back() == '\n') message.pop_back();
    const bool is_connection =
        error != nullptr &&
        (error->domain == VIR_FROM_RPC || error->code == VIR_ERR_NO_CONNECT || error->code == VIR_ERR_INVALID_CONN);
    return fail(is_connection ? ErrorKind::unavailable : ErrorKind::io, std::string(doing) + ": " + message);
}

namespace {

Result<void> attach_live(virDomainPtr domain, const std::string& device) {
    if (virDomainAttachDeviceFlags(domain, device.c_str(), VIR_DOMAIN_AFFECT_LIVE) != 0)
        return libvirt_error("attach the disk");
    return {};
}

}  // namespace

Result<void> attach_disk(virDomainPtr domain, const std::string& device) {
    Result<void> attached = attach_live(domain, device);
    if (!attached && is_duplicate(attached.error())) {
        for (const LiveDisk& disk : read_live(device).disks) remove_stray_disk(domain, "ua-" + disk.name, disk.path);
        attached = attach_live(domain, device);
    }
    if (!attached) return attached;
    virDomainAttachDeviceFlags(domain, device.c_str(), VIR_DOMAIN_AFFECT_CONFIG);
    return {};
}

Result<void> ask_to_let_go(virDomainPtr domain, const std::string& alias) {
    const int asked = virDomainDetachDeviceAlias(domain, alias.c_str(), VIR_DOMAIN_AFFECT_LIVE);
    Result<void> out;
    if (asked != 0) out = libvirt_error("detach the disk");
    virDomainDetachDeviceAlias(domain, alias.c_str(), VIR_DOMAIN_AFFECT_CONFIG);
    return out;
}

Result<void> change_medium_of(virDomainPtr domain, const std::string& device) {
    if (virDomainUpdateDeviceFlags(domain, device.c_str(), VIR_DOMAIN_AFFECT_LIVE) != 0)
        return libvirt_error("change the medium");
    virDomainUpdateDeviceFlags(domain, device.c_str(), VIR_DOMAIN_AFFECT_CONFIG);
    return {};
}

Result<void> grow_disk(virDomainPtr domain, const std::string& target, std::int64_t size) {
    virDomainBlockInfo info{};
    if (virDomainGetBlockInfo(domain, target.c_str(), &info, 0) != 0) return libvirt_error("read the disk's size");
    const auto wanted = static_cast<unsigned long long>(size);
    if (wanted <= info.capacity) return {};
    if (virDomainBlockResize(domain, target.c_str(), wanted, VIR_DOMAIN_BLOCK_RESIZE_BYTES) != 0)
        return libvirt_error("make the disk larger");
    return {};
}

std::map<std::string, std::int64_t> sizes_of(virDomainPtr domain, const std::vector<std::string>& targets) {
    std::map<std::string, std::int64_t> out;
    for (const std::string& target : targets) {
        virDomainBlockInfo info{};
        if (virDomainGetBlockInfo(domain, target.c_str(), &info, 0) == 0)
            out[target] = static_cast<std::int64_t>(info.capacity);
    }
    return out;
}

}  // namespace berth::launcher
