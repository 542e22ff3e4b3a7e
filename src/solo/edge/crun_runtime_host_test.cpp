// Real containers on this machine: crun, conmon, cgroups.
#include "solo/edge/crun_runtime.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "solo/edge/cgroups.hpp"
#include "solo/edge/host_test_world.hpp"

namespace berth::solo {
namespace {

using CrunRuntimeHost = HostWorld;

TEST_F(CrunRuntimeHost, RunsToItsEndAndSaysHow) {
    const Result<void> started =
        await(runtime_->start(shell("id -u; cat /etc/hostname; echo last words > /dev/termination-log; exit 5")));
    ASSERT_TRUE(started) << started.error().message;
    const ContainerInfo info = wait_exited("main");
    EXPECT_EQ(info.exit_code, 5);
    EXPECT_EQ(info.termination_message, "last words\n");
    EXPECT_FALSE(info.oom_killed);
    EXPECT_TRUE(info.started_at && info.finished_at && *info.started_at <= *info.finished_at);
    EXPECT_EQ(log_text("main"), "107\nweb\n");
    ASSERT_FALSE(changed_.empty());
    EXPECT_EQ(changed_.front(), pod_.value);
}

TEST_F(CrunRuntimeHost, StartIsDoneOnce) {
    ASSERT_TRUE(await(runtime_->start(shell("echo once; exec sleep 1000"))));
    const int pid = find("main")->pid;
    ASSERT_TRUE(await(runtime_->start(shell("echo once; exec sleep 1000"))));
    EXPECT_EQ(find("main")->pid, pid);
    ASSERT_TRUE(await(runtime_->signal(find("main")->id, "KILL")));
    EXPECT_EQ(wait_exited("main").exit_code, 137);
    ASSERT_TRUE(await(runtime_->start(shell("echo once; exec sleep 1000"))));
    EXPECT_EQ(find("main")->phase, ContainerPhase::exited) << "an attempt that has ended does not run again";
    EXPECT_EQ(log_text("main"), "once\n");
    ContainerSpec next = shell("echo twice");
    next.attempt = 1;
    ASSERT_TRUE(await(runtime_->start(next)));
}

TEST_F(CrunRuntimeHost, AnotherObjectFindsWhatRuns) {
    ASSERT_TRUE(await(runtime_->start(shell("trap 'exit 3' TERM; while :; do sleep 0.05; done"))));
    const ContainerInfo before = *find("main");
    close_runtime();
    open_runtime();
    const ContainerInfo after = *find("main");
    EXPECT_EQ(after.phase, ContainerPhase::running);
    EXPECT_EQ(after.pid, before.pid);
    EXPECT_EQ(after.started_at, before.started_at);
    ASSERT_TRUE(await(runtime_->signal(after.id, "TERM")));
    EXPECT_EQ(wait_exited("main").exit_code, 3);
}

TEST_F(CrunRuntimeHost, EndsWhileNobodyLooksAreFoundLater) {
    ASSERT_TRUE(await(runtime_->start(shell("exec sleep 1000"))));
    const ContainerInfo info = *find("main");
    close_runtime();
    const Fd pidfd = open_process(process_mark(info.pid));
    ASSERT_EQ(::kill(info.pid, SIGKILL), 0);
    open_runtime();
    EXPECT_EQ(wait_exited("main").exit_code, 137);
}

TEST_F(CrunRuntimeHost, MonitorKilledThenContainer) {
    ASSERT_TRUE(await(runtime_->start(shell("exec sleep 1000"))));
    const ContainerInfo info = *find("main");
    const std::string folder = data_->paths().node(NodeName{"n1"}).pod(pod_) + "/containers/main-0";
    const int monitor = std::atoi(read_file(folder + "/conmon.pid").value_or("0").c_str());
    ASSERT_GT(monitor, 1);
    const ProcessMark mark = process_mark(monitor);
    ASSERT_EQ(::kill(monitor, SIGKILL), 0);
    ASSERT_TRUE(wait_for_end(mark, std::chrono::seconds(10)));
    EXPECT_EQ(find("main")->phase, ContainerPhase::running);
    ASSERT_EQ(::kill(info.pid, SIGKILL), 0);
    const ContainerInfo ended = wait_exited("main");
    EXPECT_EQ(ended.exit_code, 137);
    EXPECT_TRUE(ended.finished_at);
}

TEST_F(CrunRuntimeHost, MonitorHoldsNothingOfOurs) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);  // inheritable, as a library's listening socket may be
    const Fd reader(ends[0]);
    Fd writer(ends[1]);
    ASSERT_TRUE(await(runtime_->start(shell("exec sleep 1000"))));
    writer.close();
    pollfd ended{.fd = reader.get(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&ended, 1, 0), 1) << "nobody else has the other end";
}

TEST_F(CrunRuntimeHost, SaysThatItRanOutOfMemory) {
    ContainerSpec spec = shell("x=1234567890123456; while :; do x=$x$x; done");
    spec.memory_limit = 32_MiB;
    ASSERT_TRUE(await(runtime_->start(spec)));
    const ContainerInfo info = wait_exited("main");
    EXPECT_TRUE(info.oom_killed);
    EXPECT_EQ(info.exit_code, 137);
}

TEST_F(CrunRuntimeHost, ProgramThatIsNotThere) {
    ContainerSpec spec = shell("");
    spec.argv = {"/no/such/program"};
    const Result<void> started = await(runtime_->start(spec));
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().kind, ErrorKind::invalid);
    EXPECT_NE(started.error().message.find("/no/such/program"), std::string::npos) << started.error().message;
    EXPECT_FALSE(find("main"));
}

TEST_F(CrunRuntimeHost, MessageFromTheLog) {
    ContainerSpec spec = shell("echo why it failed; exit 1");
    spec.message_from_log = true;
    ASSERT_TRUE(await(runtime_->start(spec)));
    EXPECT_EQ(wait_exited("main").termination_message, "why it failed\n");
}

TEST_F(CrunRuntimeHost, SeesNothingOfTheMachine) {
    const std::string script =
        "ls /etc/shadow /root/.ssh /sys/fs/cgroup/memory 2>/dev/null; touch /usr/x /x 2>/dev/null && echo wrote; "
        "touch /tmp/ok /run/ok && echo scratch; grep -c . /proc/self/cgroup >/dev/null; berth && echo program";
    ASSERT_TRUE(await(runtime_->start(shell(script))));
    EXPECT_EQ(wait_exited("main").exit_code, 0);
    EXPECT_EQ(log_text("main"), "scratch\nprogram\n");
}

TEST_F(CrunRuntimeHost, RemovedLeavesItsLogAndNothingElse) {
    ASSERT_TRUE(await(runtime_->start(shell("echo kept; exec sleep 1000"))));
    const std::string id = find("main")->id;
    EXPECT_FALSE(cgroup_processes(data_->paths().cgroup() + "/" + pod_.value).empty());
    ASSERT_TRUE(await(runtime_->signal(id, "KILL")));
    wait_exited("main");
    ASSERT_TRUE(await(runtime_->remove(id)));
    ASSERT_TRUE(await(runtime_->remove(id)));
    EXPECT_TRUE(await(runtime_->signal(id, "TERM"))) << "one that is gone is a success";
    EXPECT_FALSE(find("main"));
    EXPECT_EQ(log_text("main"), "kept\n");
    EXPECT_TRUE(list_dir(data_->paths().crun_state()).empty());
    EXPECT_TRUE(list_dir(data_->paths().node(NodeName{"n1"}).exits()).empty());
    EXPECT_TRUE(list_dir(data_->paths().sockets()).empty());
    for (const MountPoint& mount : *read_mounts()) EXPECT_FALSE(mount.path.starts_with(path_ + "/")) << mount.path;
}

}  // namespace
}  // namespace berth::solo
