// The two programs of a VM pod's compute container; the binary acts by the name it is called with.
#pragma once

namespace berth::launcher {

/// Process 1, "virt-launcher-monitor": starts libvirtd and the launcher, starts either again when it dies, reaps what
/// they leave behind, hands SIGTERM to the launcher. It is small because the guest dies with it.
///
/// Arguments  those of the launcher (placement.md L-20), handed on as they are
/// Environment  BERTH_CAPABILITY_SEED: folder of libvirt's capability files (default /usr/share/berth/capabilities)
/// Returns  0: the guest ended, or none was started; 1: it crashed
int monitor_main(int argc, char** argv);

/// "virt-launcher": runs the one guest of the pod as the node's agent says, and reports on it.
///
/// Arguments  --name, --namespace, --uid of the machine, --grace-period-seconds, --stopping-until; others are ignored
/// Environment  BERTH_ACCEL: kvm, tcg, auto; POD_UID: checked against what the agent says, if set
/// Returns  kExitDone or kExitCrashed (layout.hpp) when the pod's work is done
int launcher_main(int argc, char** argv);

}  // namespace berth::launcher
