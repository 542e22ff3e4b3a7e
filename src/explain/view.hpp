// What the API shows of one machine: the view of everything in this folder.
#pragma once

#include "api/kubevirt.hpp"

namespace berth::explain {

struct View {
    std::optional<api::VirtualMachine> vm;  ///< none: a machine instance without a VM
    std::optional<api::VirtualMachineInstance> vmi;
    std::vector<api::DataVolume> data_volumes;
    std::vector<api::PersistentVolumeClaim> claims;
    std::vector<api::PersistentVolume> volumes;
    std::vector<api::Pod> pods;  ///< of the machine, of its plugged volumes, and the workers that fill its disks
    std::vector<api::Node> nodes;
    std::map<std::string, std::vector<std::string>> warnings;  ///< by "kind/name": the newest first
    Timestamp now;
};

template <class T>
const T* find_named(const std::vector<T>& objects, const std::string& name) {
    const auto it = std::ranges::find_if(objects, [&](const T& object) { return object.metadata.name == name; });
    return it == objects.end() ? nullptr : &*it;
}

/// The newest warning about an object ("pod/x") that contains `word`; "" when there is none.
std::string warning_of(const View& view, const std::string& object, const std::string& word = "");

/// The nodes that a volume can be reached from; empty: all.
std::vector<std::string> nodes_of(const api::PersistentVolume& volume);

}  // namespace berth::explain
