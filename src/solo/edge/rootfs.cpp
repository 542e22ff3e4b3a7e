#include "solo/edge/rootfs.hpp"

#include "solo/edge/files.hpp"
#include "solo/edge/mounts.hpp"

namespace berth::solo {
namespace {

constexpr std::string_view kPasswd =
    "root:x:0:0:root:/root:/usr/sbin/nologin\n"
    "qemu:x:107:107:qemu:/run/berth:/usr/sbin/nologin\n"
    // libvirt's QEMU driver does not load unless this name resolves, whatever its configuration says.
    "libvirt-qemu:x:64055:64055:libvirt qemu:/var/lib/libvirt:/usr/sbin/nologin\n"
    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
constexpr std::string_view kGroup = "root:x:0:\nkvm:x:36:qemu\nqemu:x:107:\nlibvirt-qemu:x:64055:\nnogroup:x:65534:\n";
constexpr std::string_view kNameServices =
    "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nservices: files\nprotocols: files\n";
constexpr const char* kCertificates = "/etc/ssl/certs/ca-certificates.crt";

/// The files that say who this host is; pods share the machine's network, so they see its names too.
Result<void> write_host_files(const std::string& etc, const std::string& hostname) {
    const std::string hosts = read_file("/etc/hosts").value_or("127.0.0.1 localhost\n");
    TRY_DO(write_plain(etc + "/hosts", hosts + "\n127.0.0.1 " + hostname + "\n", 0644));
    TRY_DO(write_plain(etc + "/hostname", hostname + "\n", 0644));
    return write_plain(etc + "/resolv.conf", read_file("/etc/resolv.conf").value_or(""), 0644);
}

Result<void> make_host_usr(
    const std::string& layer, const std::string& rootfs, const std::string& hostname, bool has_disk
) {
    for (const char* folder :
         {"usr",
          "proc",
          "sys",
          "dev",
          "run",
          "tmp",
          "var/tmp",
          "var/lib",
          "var/cache",
          "var/log",
          "root",
          "home",
          "mnt",
          "etc/ssl/certs"}) {
        TRY_DO(make_dirs(rootfs + "/" + folder, 0755));
    }
    if (has_disk) TRY_DO(make_dirs(rootfs + "/disk", 0755));
    for (const std::string name : {"bin", "lib", "lib64", "sbin"})
        TRY_DO(replace_link("usr/" + name, rootfs + "/" + name));
    TRY_DO(replace_link("/run", rootfs + "/var/run"));
    const std::string etc = rootfs + "/etc";
    TRY_DO(write_plain(etc + "/passwd", kPasswd, 0644));
    TRY_DO(write_plain(etc + "/group", kGroup, 0644));
    TRY_DO(write_plain(etc + "/nsswitch.conf", kNameServices, 0644));
    TRY_DO(write_host_files(etc, hostname));
    if (const Result<std::string> text = read_file(kCertificates); text)
        TRY_DO(write_plain(rootfs + kCertificates, *text, 0644));
    return mount_overlay({layer, "/usr"}, "", "", rootfs + "/usr");
}

}  // namespace

Result<void> make_rootfs(
    const Image& image,
    const std::string& layer,
    const std::string& rootfs,
    const std::string& scratch,
    const std::string& hostname
) {
    TRY_DO(unmount_below(rootfs));
    TRY_DO(make_dirs(rootfs, 0755));
    if (image.userland == Userland::host_usr) return make_host_usr(layer, rootfs, hostname, image.is_disk);
    TRY_DO(make_dirs(scratch + "/etc", 0755));
    TRY_DO(write_host_files(scratch + "/etc", hostname));
    TRY_DO(make_dirs(scratch + "/upper", 0755));
    TRY_DO(make_dirs(scratch + "/work", 0700));
    return mount_overlay({image.tree}, scratch + "/upper", scratch + "/work", rootfs);
}

}  // namespace berth::solo
