// Rows of a kubelet: what is done with a pod, and in which order.
#include "solo/rules/kubelet/fixture.hpp"

namespace berth::solo::kubelet {
namespace {

using namespace testing;

TEST(Kubelet, Rows) {
    struct Row {
        const char* scenario;
        Seen seen;
        const char* rule;
        const char* acts;
        std::optional<int> again;
    };
    const auto signalled = [](const char* what) { return [what](View& v) { v.signalled.insert(what); }; };
    const auto failed = [](const char* name, int count, int when) {
        return [=](View& v) { v.start_failures[name] = {"ErrImagePull", "no such image", count, at(when)}; };
    };
    const Row rows[] = {
        {"K-93 machine not looked at yet",
         Seen(never()).with([](View& v) { v.knows_containers = false; }),
         "the-machine-is-looked-at-first", "look at containers tp",
         {}},
        {"K-94 directory first",
         Seen(never()).with([](View& v) { v.has_directory = false; }),
         "a-pod-has-a-directory", "make pod directory uid-tp",
         {}},
        {"L-24 then the container",
         Seen(never()),
         "containers-start-in-order", "start container pod/default/tp compute 0",
         {}},
        {"L-24 comes up", Seen(never()).created("compute"), "running-pod-is-watched", "", {}},
        {"L-24 runs", Seen(never()).running("compute"), "running-pod-is-watched", "", {}},
        {"L-24 ended", Seen(never()).exited("compute", 0), "finished-pod-is-left-alone", "", {}},
        {"R-02 failed", Seen(never()).exited("compute", 1), "finished-pod-is-left-alone", "", {}},
        {"L-23 init first",
         Seen(with_init(never())),
         "containers-start-in-order", "start container pod/default/tp init 0",
         {}},
        {"L-23 init runs", Seen(with_init(never())).running("init"), "running-pod-is-watched", "", {}},
        {"L-23 init done",
         Seen(with_init(never())).exited("init", 0),
         "containers-start-in-order", "start container pod/default/tp compute 0",
         {}},
        {"L-23 init failed for good", Seen(with_init(never())).exited("init", 3), "finished-pod-is-left-alone", "", {}},
        {"L-23 init failed, again",
         Seen(with_init(policy(pod("tp"), "OnFailure"))).exited("init", 3),
         "containers-start-in-order", "start container pod/default/tp init 1",
         {}},
        {"L-23 sidecar comes up", Seen(with_sidecar(never())).created("log"), "running-pod-is-watched", "", {}},
        {"L-23 sidecar runs",
         Seen(with_sidecar(never())).running("log"),
         "containers-start-in-order", "start container pod/default/tp compute 0",
         {}},
        {"L-23 sidecar ends last",
         Seen(with_sidecar(never())).running("log").exited("compute", 0, 95),
         "nothing-outlives-a-pod-that-is-over", "signal container log-0 TERM",
         125},
        {"L-23 sidecar hangs",
         Seen(with_sidecar(never())).running("log").exited("compute", 0, 60),
         "nothing-outlives-a-pod-that-is-over", "signal container log-0 KILL",
         {}},
        {"L-23 sidecar crashed",
         Seen(with_sidecar(never())).exited("log", 1).running("compute"),
         "containers-start-in-order", "start container pod/default/tp log 1",
         {}},
        {"D-13 filler failed",
         Seen(policy(pod("tp"), "OnFailure")).exited("compute", 1),
         "containers-start-in-order", "start container pod/default/tp compute 1",
         {}},
        {"D-13 failed twice",
         Seen(policy(pod("tp"), "OnFailure")).exited("compute", 1, 100, 1),
         "containers-start-in-order", "",
         101},
        {"D-13 failed often",
         Seen(policy(pod("tp"), "OnFailure")).exited("compute", 1, 95, 4),
         "containers-start-in-order", "",
         103},
        {"D-13 at most five minutes",
         Seen(policy(pod("tp"), "OnFailure")).exited("compute", 1, 95, 30),
         "containers-start-in-order", "",
         395},
        {"D-13 pause over",
         Seen(policy(pod("tp"), "OnFailure")).exited("compute", 1, 80, 0).exited("compute", 1, 90, 1),
         "containers-start-in-order", "remove container compute-0; start container pod/default/tp compute 2",
         {}},
        {"D-13 a good run forgives",
         Seen(policy(pod("tp"), "Always")).exited("compute", 1, 99, 9, -600),
         "containers-start-in-order", "start container pod/default/tp compute 10",
         {}},
        {"D-13 done", Seen(policy(pod("tp"), "OnFailure")).exited("compute", 0), "finished-pod-is-left-alone", "", {}},
        {"K-93 Always starts again",
         Seen(policy(pod("tp"), "Always")).exited("compute", 0),
         "containers-start-in-order", "start container pod/default/tp compute 1",
         {}},
        {"P-69 image missing", Seen(never()).with(failed("compute", 1, 98)), "containers-start-in-order", "", 108},
        {"P-69 and again",
         Seen(never()).with(failed("compute", 1, 90)),
         "containers-start-in-order", "start container pod/default/tp compute 0",
         {}},
        {"P-69 pauses grow", Seen(never()).with(failed("compute", 3, 90)), "containers-start-in-order", "", 130},
        {"K-93 a restart that fails pauses too",
         Seen(policy(pod("tp"), "Always")).exited("compute", 1).with(failed("compute", 1, 98)),
         "containers-start-in-order", "",
         108},
        {"K-93 deleted",
         Seen(deleted(never(), 125)).running("compute"),
         "deleted-pod-ends-in-its-grace-period", "signal container compute-0 TERM",
         125},
        {"K-93 TERM is sent once",
         Seen(deleted(never(), 125)).running("compute").with(signalled("compute-0 TERM")),
         "deleted-pod-ends-in-its-grace-period", "",
         125},
        {"K-93 grace is over",
         Seen(deleted(never(), 100)).running("compute").with(signalled("compute-0 TERM")),
         "deleted-pod-ends-in-its-grace-period", "signal container compute-0 KILL",
         {}},
        {"K-93 sidecar last",
         Seen(with_sidecar(deleted(never(), 125))).running("log").running("compute"),
         "deleted-pod-ends-in-its-grace-period", "signal container compute-0 TERM",
         125},
        {"K-93 then the sidecar",
         Seen(with_sidecar(deleted(never(), 125))).running("log").exited("compute", 0),
         "deleted-pod-ends-in-its-grace-period", "signal container log-0 TERM",
         125},
        {"K-93 all ended",
         Seen(deleted(never(), 125)).exited("compute", 0),
         "deleted-pod-ends-in-its-grace-period", "remove container compute-0; remove pod directory uid-tp; delete pod/default/tp grace 0",
         {}},
        {"R-18 deleted before it began",
         Seen(deleted(never(), 125)).with([](View& v) { v.has_directory = false; }),
         "deleted-pod-ends-in-its-grace-period", "delete pod/default/tp grace 0",
         {}},
        {"K-93 nothing starts while deleting",
         Seen(deleted(policy(pod("tp"), "Always"), 125)).exited("compute", 1),
         "deleted-pod-ends-in-its-grace-period", "remove container compute-0; remove pod directory uid-tp; delete pod/default/tp grace 0",
         {}},
        {"R-27 force-deleted",
         Seen(never()).running("compute").with([](View& v) { v.pod.reset(); }),
         "gone-pod-leaves-nothing", "signal container compute-0 KILL",
         {}},
        {"R-27 nothing runs any more",
         Seen(never()).exited("compute", 137).with([](View& v) { v.pod.reset(); }),
         "gone-pod-leaves-nothing", "remove container compute-0; remove pod directory uid-tp",
         {}},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.scenario);
        const api::Plan plan = sync(row.seen.view);
        EXPECT_EQ(plan.rule, row.rule);
        EXPECT_EQ(acts(plan), row.acts);
        EXPECT_EQ(plan.look_again_at, row.again ? std::optional(at(*row.again)) : std::nullopt);
    }
}

TEST(Kubelet, ActiveDeadline) {
    api::Pod timed = never();
    timed.spec.active_deadline_seconds = 60;
    timed.status.start_time = at(50);
    Seen seen = Seen(timed).running("compute");
    EXPECT_EQ(sync(seen.view).look_again_at, at(110));
    seen.view.now = at(110);
    const api::Plan plan = sync(seen.view);
    EXPECT_EQ(acts(plan), "signal container compute-0 TERM");
    EXPECT_EQ(plan.look_again_at, at(140));
    EXPECT_EQ(status_of(seen.view).phase, "Running") << "not over before it is";
    seen.view.containers.clear();
    seen.exited("compute", 143, 111);
    EXPECT_EQ(status_of(seen.view).phase, "Failed");
    EXPECT_EQ(status_of(seen.view).reason, "DeadlineExceeded");
}

}  // namespace
}  // namespace berth::solo::kubelet
