// Where the programs of a VM pod keep their files. All of it lies on tmpfs and ends with the pod.
#pragma once

namespace berth::launcher {

inline constexpr char kHome[] = "/run/berth/home";
inline constexpr char kRuntimeDir[] = "/run/berth/run";
inline constexpr char kConfigDir[] = "/run/berth/config";
inline constexpr char kCacheDir[] = "/run/berth/cache";
// libvirt puts "libvirt/qemu" below XDG_CACHE_HOME, and a "cache" of its own into it.
inline constexpr char kCapabilitiesDir[] = "/run/berth/cache/libvirt/qemu/cache/capabilities";
inline constexpr char kLibvirtUri[] = "qemu+unix:///session?socket=/run/berth/run/libvirt/libvirt-sock";

/// libvirt begins "<domain>.log" here right before it runs QEMU.
inline constexpr char kQemuLogDir[] = "/run/berth/cache/libvirt/qemu/log";

/// Written before the guest is started, so that no second one ever is: "starting", then "started".
inline constexpr char kStartRecord[] = "/run/berth/started";
/// What a guest was asked to let go, and the sizes of claims that were acted on: a launcher that dies leaves it to the
/// next.
inline constexpr char kPlugRecord[] = "/run/berth/plugs";
/// What the launcher says when the pod's work is done; the monitor hands it on as the termination message.
inline constexpr char kLastWords[] = "/run/berth/last-words";
inline constexpr char kTerminationLog[] = "/dev/termination-log";

inline constexpr char kLinkSocket[] = "/var/run/kubevirt/sockets/launcher-sock";
inline constexpr char kConsoleSocket[] = "/var/run/kubevirt/sockets/console-sock";

/// The launcher's exit codes, read by the monitor. Every other end: start it again.
inline constexpr int kExitDone = 0;
inline constexpr int kExitCrashed = 10;

}  // namespace berth::launcher
