#include "node/edge/device_rules.hpp"

#include <cerrno>
#include <sstream>

#include <fcntl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "node/edge/device_filter.hpp"
#include "solo/edge/cgroups.hpp"
#include "solo/edge/fd.hpp"
#include "solo/edge/files.hpp"

namespace berth::node {
namespace {

using solo::fail_errno;

/// The group's folder in the first hierarchy where it holds such a file, or "".
std::string folder_with(const char* file, const std::string& group) {
    for (const std::string& hierarchy : solo::cgroup_hierarchies()) {
        if (solo::exists(hierarchy + group + file)) return hierarchy + group;
    }
    return {};
}

/// In the v1 hierarchy of devices.
std::string folder_of(const std::string& group) { return folder_with("/devices.list", group); }

Result<void> write_rule(const std::string& path, const std::string& rule) {
    const Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file.is_open()) return fail_errno("open \"" + path + "\"", errno);
    if (::write(file.get(), rule.data(), rule.size()) != static_cast<ssize_t>(rule.size()))
        return fail_errno("write \"" + rule + "\" to \"" + path + "\"", errno);
    return {};
}

Result<void> set_program(const std::string& group, const std::vector<dev_t>& plugged) {
    const std::string folder = folder_with("/cgroup.controllers", group);  // v2
    const std::vector<int> processes = solo::cgroup_processes(group);
    if (folder.empty() || processes.empty()) return {};
    const std::string dev_folder = "/proc/" + std::to_string(processes.front()) + "/root/dev";
    return set_device_rules(folder, rules_of_group(dev_folder, plugged));
}

}  // namespace

std::string device_text(dev_t device) {
    return "b " + std::to_string(gnu_dev_major(device)) + ":" + std::to_string(gnu_dev_minor(device));
}

bool allows(std::string_view rules, dev_t device) {
    std::istringstream lines{std::string(rules)};
    for (std::string line; std::getline(lines, line);) {
        if (line == "a *:* rwm" || line == device_text(device) + " rwm") return true;
    }
    return false;
}

Result<bool> is_allowed(const std::string& group, dev_t device) {
    const std::string folder = folder_of(group);
    if (folder.empty()) return true;
    TRY(const std::string rules, solo::read_file(folder + "/devices.list"));
    return allows(rules, device);
}

Result<void> allow_device(const std::string& group, dev_t device, const std::vector<dev_t>& plugged) {
    const std::string folder = folder_of(group);
    if (folder.empty()) return set_program(group, plugged);
    TRY(const bool allowed, is_allowed(group, device));
    if (allowed) return {};
    return write_rule(folder + "/devices.allow", device_text(device) + " rwm");
}

Result<void> deny_device(const std::string& group, dev_t device, const std::vector<dev_t>& plugged) {
    const std::string folder = folder_of(group);
    if (folder.empty()) return set_program(group, plugged);
    return write_rule(folder + "/devices.deny", device_text(device) + " rwm");
}

}  // namespace berth::node
