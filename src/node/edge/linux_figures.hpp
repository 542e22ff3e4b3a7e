// The figures of workers on a Linux node: each leaves one in a file of its pod's folder, which is watched.
#pragma once

#include <map>

#include "base/async/task_group.hpp"
#include "node/figures.hpp"

namespace berth::node {

/// Name of the file; a worker writes it under another name and renames it.
inline constexpr const char* kFigureFile = "progress";

class LinuxFigures final : public WorkerFigures {
public:
    /// `folder_of`: the host's path of the folder that a pod's worker writes to.
    LinuxFigures(Executor executor, std::function<std::string(const Uid& pod)> folder_of);
    ~LinuxFigures() override;

    void follow(const Uid& pod) override;
    void drop(const Uid& pod) override;
    void on_figure(std::function<void(const Uid& pod, const std::string& figure)> call) override;

    /// Await it before the object goes.
    Task<void> close() { return group_.close(); }

private:
    struct Watch;
    Task<void> run();
    void read(const Uid& pod, const std::string& folder);

    std::function<std::string(const Uid&)> folder_of_;
    std::function<void(const Uid&, const std::string&)> call_;
    std::unique_ptr<Watch> watch_;
    struct Followed {
        int number = 0;  ///< of the kernel's watch
        std::string folder;
    };
    std::map<Uid, Followed> followed_;
    TaskGroup group_;  // last
};

}  // namespace berth::node
