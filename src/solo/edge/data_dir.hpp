// The data directory of one `berth up`: where everything of it lies, who may use it, and the mount that all others are
// below.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "base/text.hpp"
#include "solo/edge/fd.hpp"

namespace berth::solo {

/// Places of one node.
struct NodeDir {
    std::string path;

    [[nodiscard]] std::string pods() const { return path + "/pods"; }
    [[nodiscard]] std::string pod(const Uid& uid) const { return pods() + "/" + uid.value; }
    [[nodiscard]] std::string exits() const { return path + "/exits"; }
    [[nodiscard]] std::string volumes() const { return path + "/volumes"; }
    [[nodiscard]] std::string plugs() const { return path + "/plugs"; }  ///< records of plugged volumes
};

/// Places that all nodes of a data directory share. A plain value; DataDir makes them.
struct DataPaths {
    std::string path;  ///< absolute, without links

    [[nodiscard]] NodeDir node(const NodeName& name) const { return {path + "/nodes/" + name.value}; }
    [[nodiscard]] std::string nodes() const { return path + "/nodes"; }
    [[nodiscard]] std::string images() const { return path + "/images"; }
    [[nodiscard]] std::string image_cache() const { return path + "/images-cache"; }
    [[nodiscard]] std::string layer() const { return path + "/layer"; }
    /// What an earlier pod's libvirt found out about QEMU, for later pods to read (node/edge/capabilities.hpp).
    [[nodiscard]] std::string capabilities() const { return path + "/capabilities"; }
    [[nodiscard]] std::string programs() const { return path + "/program"; }
    [[nodiscard]] std::string crun_state() const { return path + "/crun"; }
    [[nodiscard]] std::string sockets() const { return path + "/sock"; }
    /// "/berth-x2vq1": the group of all pods of this directory, below each hierarchy's root.
    [[nodiscard]] std::string cgroup() const;
};

/// Holds a data directory: while this lives, no second process can.
class DataDir {
public:
    /// Makes what is missing, takes the lock and makes the directory a shared mount on itself. Idempotent; blocks.
    ///
    /// program  the berth program that containers get; copied when it changed. "": containers get none
    /// Errors   conflict: another process has it; forbidden: not root; io
    static Result<DataDir> open(const std::string& path, const std::string& program);

    [[nodiscard]] const DataPaths& paths() const { return paths_; }
    /// The copy of the program, executable for every user; "" = none.
    [[nodiscard]] const std::string& program() const { return program_; }

private:
    DataPaths paths_;
    std::string program_;
    Fd lock_;
};

/// The places of a data directory that is there. Errors  not_found; io
Result<DataPaths> find_data_dir(const std::string& path);

/// Takes the directory's lock, which lasts as long as the descriptor. Errors  conflict: another process has it
Result<Fd> lock_data_dir(const DataPaths& paths);

}  // namespace berth::solo
