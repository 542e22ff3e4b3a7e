#include "roles/up/options.hpp"

#include <charconv>
#include <fstream>

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace berth::roles {

Result<void> read_listen(const std::string& text, UpOptions& options) {
    const std::size_t colon = text.rfind(':');
    unsigned port = 0;
    const char* const end = text.data() + text.size();
    const bool has_port = colon != std::string::npos && colon + 1 < text.size() &&
                          std::from_chars(text.data() + colon + 1, end, port).ptr == end && port <= 65535;
    if (!has_port)
        return fail(ErrorKind::invalid, "--listen \"" + text + "\": write ADDRESS:PORT, for instance 127.0.0.1:6443");
    std::string address = text.substr(0, colon);
    if (address.starts_with('[') && address.ends_with(']')) address = address.substr(1, address.size() - 2);
    if (!address.empty()) options.address = address;
    options.port = static_cast<std::uint16_t>(port);
    return {};
}

MachineSize machine_size(const std::string& data_dir) {
    MachineSize size;
    size.cpu = {sysconf(_SC_NPROCESSORS_ONLN) * 1000};
    size.memory = {sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE)};
    struct statvfs space{};
    if (statvfs(data_dir.c_str(), &space) == 0) {
        size.storage = {static_cast<std::int64_t>(space.f_bavail) * static_cast<std::int64_t>(space.f_frsize)};
    }
    return size;
}

launcher::AcceleratorChoice accelerator_here(const std::string& wish) {
    launcher::AcceleratorFacts facts{.wish = wish};
    std::ifstream cpuinfo("/proc/cpuinfo");
    facts.has_virtualization = launcher::shows_virtualization(std::string(std::istreambuf_iterator<char>(cpuinfo), {}));
    const int device = ::open("/dev/kvm", O_RDWR | O_CLOEXEC);
    facts.kvm_opens = device >= 0;
    if (device >= 0) ::close(device);
    return launcher::choose_accelerator(facts);
}

}  // namespace berth::roles
