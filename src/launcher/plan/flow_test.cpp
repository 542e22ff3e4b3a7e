// The flow as rows, and that it never starts a second guest, whatever is seen.
#include "launcher/plan/flow.hpp"

#include <gtest/gtest.h>

#include "launcher/plan/accelerator.hpp"

namespace berth::launcher {
namespace {

Seen fresh() {
    Seen seen;
    seen.domain = DomainState::absent;
    return seen;
}
Seen ready() {
    Seen seen = fresh();
    seen.has_spec = true;
    seen.is_prepared = true;
    return seen;
}
Seen started(DomainState state, std::string reason = "") {
    Seen seen = ready();
    seen.was_started = true;
    seen.domain = state;
    seen.domain_reason = std::move(reason);
    return seen;
}
Seen known_started(DomainState state, std::string reason = "") {
    Seen seen = started(state, std::move(reason));
    seen.start_succeeded = true;
    return seen;
}
template <class F>
Seen with(Seen seen, F change) {
    change(seen);
    return seen;
}

TEST(Flow, Rows) {
    struct Row {
        const char* given;
        Seen seen;
        std::string_view rule;
        std::string_view state;
        std::string_view reason;
    };
    const auto asked = [](Ask ask) { return [ask](Seen& seen) { seen.ask = ask; }; };
    const Row rows[] = {
        {"nothing was sent yet", fresh(), "waits-for-the-node", "", ""},
        {"the image is on its way", with(ready(), [](Seen& s) { s.waits_for = {"/x"}; }), "waits-for-files", "", ""},
        {"disks are to be made", with(ready(), [](Seen& s) { s.is_prepared = false; }), "prepares-disks", "", ""},
        {"also without libvirt", with(Seen{}, [](Seen& s) { s.has_spec = true; }), "prepares-disks", "", ""},
        {"libvirt is not up yet",
         with(ready(), [](Seen& s) { s.domain = DomainState::unknown; }),
         "waits-for-libvirt", "",
         ""},
        {"an attempt failed just now",
         with(ready(), [](Seen& s) { s.is_cooling = true; }),
         "waits-after-an-error", "",
         ""},
        {"all is there", ready(), "starts-the-guest", "", ""},
        {"a failed start left a domain",
         with(ready(), [](Seen& s) { s.domain = DomainState::shutoff; }),
         "starts-the-guest", "",
         ""},
        {"it boots", started(DomainState::starting), "runs", "starting", ""},
        {"it runs", started(DomainState::running), "runs", "running", ""},
        {"its disk is full", started(DomainState::paused, "ioerror"), "runs", "paused", "ioerror"},
        {"libvirtd was restarted", started(DomainState::unknown), "waits-for-libvirt", "", ""},
        {"it is to power off",
         with(started(DomainState::running), asked(Ask::shutdown)),
         "press-the-power-button", "running",
         ""},
        {"it was asked a moment ago",
         with(
             started(DomainState::running),
         [](Seen& s) {
                 s.ask = Ask::shutdown;
                 s.may_ask_again = false;
             }
         ), "runs",
         "running", ""},
        {"its grace is over", with(started(DomainState::running), asked(Ask::destroy)), "destroy", "running", ""},
        {"P-27: it powered itself off",
         started(DomainState::shutoff, "shutdown"),
         "ended-guest-ends-its-pod", "shutoff",
         "guest"},
        {"it powered off as asked",
         with(started(DomainState::shutoff, "shutdown"), [](Seen& s) { s.has_asked_guest = true; }),
         "ended-guest-ends-its-pod", "shutoff",
         "shutdown"},
        {"it was destroyed",
         started(DomainState::shutoff, "destroyed"),
         "ended-guest-ends-its-pod", "shutoff",
         "destroyed"},
        {"P-28: QEMU was killed",
         started(DomainState::crashed, "crashed"),
         "crashed-guest-fails-its-pod", "crashed",
         "failed"},
        {"it ended while nobody looked",
         started(DomainState::shutoff, "failed"),
         "crashed-guest-fails-its-pod", "crashed",
         "failed"},
        {"even the domain is gone",
         known_started(DomainState::absent),
         "crashed-guest-fails-its-pod", "crashed",
         "failed"},
        {"the start got nowhere", started(DomainState::absent), "start-that-never-was", "", ""},
        {"the start got as far as a definition", started(DomainState::shutoff, "never"), "start-that-never-was", "", ""
        },
        {"QEMU may have run",
         with(started(DomainState::shutoff, "never"), [](Seen& s) { s.has_run_qemu = true; }),
         "crashed-guest-fails-its-pod", "crashed",
         "failed"},
        {"it ran, and libvirtd forgot",
         known_started(DomainState::shutoff, "never"),
         "crashed-guest-fails-its-pod", "crashed",
         "failed"},
        {"deleted before it started", with(fresh(), asked(Ask::destroy)), "stopped-before-start", "shutoff", "destroyed"
        },
        {"the pod is stopped before",
         with(
             fresh(),
         [](Seen& s) {
                 s.ends_when_idle = true;
                 s.ask = Ask::shutdown;
             }
         ), "stopped-before-start",
         "", ""},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.given);
        EXPECT_EQ(decide(row.seen).rule, row.rule);
        const agent::Report report = report_of(row.seen, {}, {});
        EXPECT_EQ(report.state, row.state);
        EXPECT_EQ(report.reason, row.reason);
    }
}

// reliability/I-02: whatever was seen, a pod whose guest was started once starts none.
TEST(Flow, I02_OneGuestOnce) {
    for (const DomainState state :
         {DomainState::unknown,
          DomainState::absent,
          DomainState::starting,
          DomainState::running,
          DomainState::paused,
          DomainState::shutoff,
          DomainState::crashed}) {
        for (unsigned bits = 0; bits < 64; ++bits) {
            Seen seen = started(state, (bits & 1) != 0 ? "shutdown" : "failed");
            seen.has_spec = (bits & 2) != 0;
            seen.is_prepared = (bits & 4) != 0;
            seen.is_cooling = (bits & 8) != 0;
            seen.ask = (bits & 16) != 0 ? Ask::shutdown : Ask::nothing;
            seen.ends_when_idle = (bits & 32) != 0;
            const Step step = decide(seen).step;
            EXPECT_TRUE(step != Step::start && step != Step::prepare) << bits;
        }
    }
}

TEST(Flow, ReportNamesDisks) {
    LiveDomain live = {
        .type = "qemu",
        .machine_type = "pc-q35-7.2",
        .disks = {{"root", "vda", true}, {"drive", "sdb", false}, {"data", "sda", true}}
    };
    const agent::Report report = report_of(
        started(DomainState::running),
        live,
        {
            {"data", "sda", 7}
    }
    );
    EXPECT_EQ(report.accelerator, "tcg");
    EXPECT_EQ(report.machine_type, "pc-q35-7.2");
    const std::vector<agent::DiskReport> disks = {
        {"data", "sda", 7},
        {"root", "vda", 0}
    };
    EXPECT_EQ(report.disks, disks);
}

TEST(Live, ReadsWhatLibvirtWrites) {
    const LiveDomain live = read_live(R"(<domain type='qemu' id='1'>
  <os><type arch='x86_64' machine='pc-q35-7.2'>hvm</type></os>
  <devices>
    <disk type='file' device='disk'>
      <driver name='qemu' type='qcow2'/>
      <source file='/a' index='2'/>
      <backingStore type='file' index='3'><format type='raw'/><source file='/b'/><backingStore/></backingStore>
      <target dev='vda' bus='virtio'/>
      <alias name='ua-root'/>
    </disk>
    <disk type='file' device='cdrom'>
      <source index='5'/>
      <target dev='sda' bus='sata'/>
      <readonly/>
      <alias name='ua-drive'/>
    </disk>
    <disk type='block' device='disk'>
      <driver name='qemu' type='raw' cache='none'/>
      <source dev='/var/run/kubevirt/hotplug-disks/logs' index='4'/>
      <target dev='sdb' bus='scsi'/>
      <alias name='ua-logs'/>
    </disk>
  </devices></domain>)");
    const LiveDomain expected = {
        .type = "qemu",
        .machine_type = "pc-q35-7.2",
        .disks =
            {{"root", "vda", true, "disk", "virtio", "/a"},
                    {"drive", "sda", false, "cdrom", "sata", ""},
                    {"logs", "sdb", true, "disk", "scsi", "/var/run/kubevirt/hotplug-disks/logs"}}
    };
    EXPECT_EQ(live, expected);
}

TEST(Accelerator, Rows) {
    struct Row {
        AcceleratorFacts facts;
        Accelerator accelerator;
        const char* why;
    };
    const Row rows[] = {
        {{.wish = "kvm"},                                                 Accelerator::kvm, "asked for"             },
        {{.wish = "tcg", .has_virtualization = true, .kvm_opens = true},  Accelerator::tcg, "asked for"             },
        {{.wish = "auto", .has_virtualization = true, .kvm_opens = true},
         Accelerator::kvm,
         "the processor has it and /dev/kvm opens"                                                                  },
        {{.wish = "", .has_virtualization = true, .kvm_opens = false},    Accelerator::tcg, "/dev/kvm does not open"},
        {{.wish = "", .has_virtualization = false, .kvm_opens = true},
         Accelerator::tcg,
         "/dev/kvm opens, but the processor shows neither vmx nor svm"                                              },
        {{.wish = "", .has_virtualization = false, .kvm_opens = false},
         Accelerator::tcg,
         "the processor shows neither vmx nor svm"                                                                  },
    };
    for (const Row& row : rows) EXPECT_EQ(choose_accelerator(row.facts), (AcceleratorChoice{row.accelerator, row.why}));
    EXPECT_TRUE(shows_virtualization("model : x\nflags\t\t: fpu vmx sse\nflags\t\t: fpu\n"));
    EXPECT_TRUE(shows_virtualization("flags\t\t: fpu svm"));
    EXPECT_FALSE(shows_virtualization("flags\t\t: fpu svm_lock\nvmx flags\t: vnmi vmx \n"));
}

}  // namespace
}  // namespace berth::launcher
