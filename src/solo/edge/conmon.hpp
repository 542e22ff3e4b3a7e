// One container through conmon and crun: created, started, signalled, deleted. conmon keeps stdio, log and exit code
// while nobody of ours runs. Source: conmon(8) 2.1, crun(1) 1.8
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "solo/edge/container_record.hpp"
#include "solo/edge/data_dir.hpp"

namespace berth::solo {

class Conmon {
public:
    /// Finds both programs and what of the cgroup mounts must be hidden from them. Errors  not_found
    static Result<Conmon> find(const DataPaths& paths);

    struct Created {
        ProcessMark process;
        ProcessMark monitor;
    };
    /// Creates the container of the bundle in `dir` (config.json and rootfs are there). Blocks for about 30 ms.
    /// Errors  invalid: the runtime refused it, with its words; io; timeout
    [[nodiscard]] Result<Created> create(const ContainerDir& dir) const;

    [[nodiscard]] Result<void> start(const std::string& id) const;

    /// It was made and nobody has started it: cheaper to ask than status().
    [[nodiscard]] bool awaits_start(const std::string& id) const;

    /// "created", "running", "stopped"; "" when the runtime does not know it.
    [[nodiscard]] Result<std::string> status(const std::string& id) const;

    /// A container that has ended or is not known is a success.
    [[nodiscard]] Result<void> signal(const std::string& id, const std::string& name) const;

    /// Ends it if it runs and makes the runtime forget it; how it ended stays to be read. Idempotent.
    ///
    /// stage  how far its record says that it came. One that was being created may be so still, by a monitor that
    ///        outlived whoever asked for it: that one goes first.
    [[nodiscard]] Result<void> end(const ContainerDir& dir, Stage stage) const;

    /// end(), then removes what the monitor keeps too, but not its log. Idempotent.
    [[nodiscard]] Result<void> remove(const ContainerDir& dir, Stage stage) const;

private:
    [[nodiscard]] Result<Finished> crun(std::vector<std::string> words) const;

    DataPaths paths_;
    std::string crun_;
    std::string conmon_;
    std::vector<std::string> hidden_;
};

}  // namespace berth::solo
