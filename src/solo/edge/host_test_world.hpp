// The world of host tests: a data directory of its own on this machine, and one node's adapters on it.
// Whatever a test does, nothing of it is left on the machine.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <stdexcept>

#include <boost/asio/io_context.hpp>

#include "base/async/system/system.hpp"
#include "solo/edge/clean_up.hpp"
#include "solo/edge/crun_runtime.hpp"
#include "solo/edge/files.hpp"
#include "solo/edge/mounts.hpp"

namespace berth::solo {

template <class T>
Task<void> keep_result(Task<T> task, std::optional<T>& out) {
    out.emplace(co_await std::move(task));
}

class HostWorld : public testing::Test {
protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "needs root";
        const char* temp = std::getenv("TMPDIR");
        std::string folder = std::string(temp == nullptr ? "/tmp" : temp) + "/berth-host-test-XXXXXX";
        ASSERT_NE(::mkdtemp(folder.data()), nullptr);
        path_ = folder;
        Result<DataDir> data = DataDir::open(path_, program_);
        ASSERT_TRUE(data) << data.error().message;
        data_.emplace(std::move(*data));
        images_.emplace(data_->paths(), "");
        open_runtime();
    }

    void TearDown() override {
        if (path_.empty()) return;
        close_runtime();
        data_.reset();
        const Result<void> done = purge(path_, Duration{});
        EXPECT_TRUE(done) << done.error().message;
        EXPECT_TRUE(remove_tree(path_));
    }

    /// As after a restart of the process: the object is new, the machine is as it was.
    void open_runtime() {
        Result<std::unique_ptr<CrunRuntime>> opened =
            CrunRuntime::open(context_.get_executor(), {pool_, clock_, log_, *images_}, *data_, NodeName{"n1"});
        ASSERT_TRUE(opened) << opened.error().message;
        runtime_ = std::move(*opened);
        runtime_->on_change([this](const Uid& pod) { changed_.push_back(pod.value); });
    }

    void close_runtime() {
        if (!runtime_) return;
        finish(runtime_->close());
        runtime_.reset();
    }

    template <class T>
    T await(Task<T> task) {
        std::optional<T> out;
        TaskGroup group(context_.get_executor());
        group.spawn("test", keep_result(std::move(task), out));
        run_until([&] { return out.has_value(); });
        if (!out) throw std::runtime_error("nothing happened for too long");  // ends this test; the next ones run
        return std::move(*out);
    }

    void finish(Task<void> task) {
        TaskGroup group(context_.get_executor());
        group.spawn("test", std::move(task));
        run_until([&] { return group.size() == 0; });
    }

    void run_until(const std::function<bool()>& done) {
        const Monotonic limit = clock_.monotonic() + std::chrono::seconds(60);
        while (!done()) {
            if (context_.stopped()) context_.restart();
            context_.run_one_for(std::chrono::seconds(1));
            ASSERT_LT(clock_.monotonic(), limit) << "nothing happened for too long";
        }
    }

    /// The newest attempt of a container, as list() shows it.
    std::optional<ContainerInfo> find(const std::string& name) {
        const Result<std::vector<ContainerInfo>> all = await(runtime_->list());
        std::optional<ContainerInfo> out;
        for (const ContainerInfo& each : *all) {
            if (each.name == name && (!out || each.attempt > out->attempt)) out = each;
        }
        return out;
    }

    /// Follows on_change until the container has ended.
    ContainerInfo wait_exited(const std::string& name) {
        for (;;) {
            changed_.clear();  // before the look: a change during it is looked at again
            std::optional<ContainerInfo> info = find(name);
            if (!info || info->phase == ContainerPhase::exited || testing::Test::HasFatalFailure())
                return info.value_or(ContainerInfo{});
            run_until([&] { return !changed_.empty(); });
        }
    }

    ContainerSpec shell(const std::string& script) const {
        ContainerSpec spec;
        spec.pod_uid = pod_;
        spec.pod_name = "web";
        spec.pod_ns = "default";
        spec.name = "main";
        spec.image = "berth.local/launcher";
        spec.argv = {"/bin/sh", "-c", script};
        spec.hostname = "web";
        spec.uid = 107;
        spec.gid = 107;
        spec.termination_message_path = "/dev/termination-log";
        return spec;
    }

    /// The log's text without its CRI prefixes.
    std::string log_text(const std::string& name) const {
        return log_tail(read_file(runtime_->log_path(pod_, name)).value_or(""));
    }

    const Uid pod_{"11111111-2222-4333-8444-555555555555"};
    std::string program_ = "/bin/true";  ///< what containers find as berth
    std::string path_;
    boost::asio::io_context context_;
    ThreadPool pool_{2};
    SystemClock clock_;
    StderrLog log_{"test", LogLevel::warn};
    std::optional<DataDir> data_;
    std::optional<Images> images_;
    std::unique_ptr<CrunRuntime> runtime_;
    std::vector<std::string> changed_;
};

}  // namespace berth::solo
