#!/bin/sh
# Builds the test guest: build.sh OUTDIR makes OUTDIR/guest.raw, guest.qcow2 and guest.oci.tar (a containerDisk).
# It is not an installer: it needs root (extlinux writes to a mounted file system, through a loop device) and these
# Debian packages, which the caller installs:
#   busybox-static cpio extlinux e2fsprogs gcc libc6-dev binutils qemu-utils python3 util-linux
# The kernel is a Debian package too, downloaded once into the cache and unpacked, never installed.
#   GUEST_CACHE   where the kernel package is kept (default: OUTDIR/cache)
#   GUEST_KERNEL  a linux-image-*-cloud-amd64 package file to use in place of the newest one
# Nothing is done if the inputs are those of the last build. Outputs appear complete or not at all.
set -eu
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin"

die() { echo "guest/build.sh: $*" >&2; exit 1; }

[ $# -eq 1 ] || die "usage: build.sh OUTDIR"
source_dir=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
cache=${GUEST_CACHE:-$out/cache}
size=32M

[ "$(id -u)" = 0 ] || die "must be root, to mount the image for extlinux"
for tool in busybox cpio extlinux mke2fs e2fsck gcc strip qemu-img python3 unshare flock; do
    command -v "$tool" >/dev/null || die "no $tool: install the packages named at the top of this script"
done
exec 9>"$out/.lock"
flock -w 300 9 || die "another build holds $out/.lock"

# The version in the package's name moves with security updates, so it is asked for and not written here.
# Without package lists (offline) the newest one in the cache has to do.
kernel_package() {
    [ -z "${GUEST_KERNEL:-}" ] || { echo "$GUEST_KERNEL"; return; }
    name=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | awk '/Depends:/ {print $2; exit}')
    version=$(apt-cache show --no-all-versions "${name:-none}" 2>/dev/null | awk '/^Version:/ {print $2; exit}')
    wanted=$cache/${name}_${version}_amd64.deb
    if [ -n "$version" ] && [ ! -s "$wanted" ]; then
        # In a directory of its own: a broken download never has the final name.
        rm -rf "$cache/partial"
        mkdir -p "$cache/partial"
        chmod 777 "$cache/partial"
        (cd "$cache/partial" && timeout 600 apt-get -qq download "$name=$version" >&2) &&
            mv "$cache"/partial/*.deb "$wanted" || echo "guest/build.sh: cannot download $name $version" >&2
        rm -rf "$cache/partial"
    fi
    [ -s "$wanted" ] || wanted=$(ls "$cache"/linux-image-*-cloud-amd64_*_amd64.deb 2>/dev/null | sort -V | tail -n 1)
    [ -s "$wanted" ] && echo "$wanted"
}
mkdir -p "$cache"
kernel=$(kernel_package) || die "no kernel package: run apt-get update, or set GUEST_KERNEL"

# What decides the result: these sources, the kernel, and the packages that end up in the image.
stamp() {
    cd "$source_dir"
    find . -type f ! -name '*.md' ! -name 'smoke_test.py' ! -path '*/__pycache__/*' | sort | xargs sha256sum
    echo "$size ${kernel##*/}"
    dpkg-query -W busybox-static extlinux libc6-dev
}
stamp=$(stamp | sha256sum | cut -d ' ' -f 1)
if [ "$(cat "$out/guest.stamp" 2>/dev/null)" = "$stamp" ] &&
    [ -s "$out/guest.raw" ] && [ -s "$out/guest.qcow2" ] && [ -s "$out/guest.oci.tar" ]; then
    echo "guest is up to date in $1"
    exit 0
fi

work=$(mktemp -d "$out/.build.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP

# copy_modules DIRECTORY STAGES: the modules of these stages. Stripped of debug data and signature, they are a third
# smaller, and the kernel still takes them.
copy_modules() {
    mkdir -p "$1/lib/modules"
    cp "$source_dir/modules.list" "$1/lib/modules/"
    grep -E "^($2) " "$source_dir/modules.list" | while read -r _ module; do
        strip --strip-debug -o "$1/lib/modules/$module.ko" "$(find "$work/kernel/lib" -name "$module.ko")" ||
            die "the kernel package has no module $module"
    done
}

mkdir "$work/kernel"
# Only the image and the directories with wanted modules: a sixth of what the package unpacks to.
dpkg --fsys-tarfile "$kernel" | tar x -C "$work/kernel" --wildcards './boot/vmlinuz-*' \
    $(grep -v '^#' "$source_dir/modules.list" | awk '{print "*/" $2 ".ko"}')
gcc -std=gnu17 -Os -static -Wall -Wextra -Werror -Wno-format-truncation -o "$work/init" "$source_dir"/*.c
strip "$work/init"

initramfs=$work/initramfs
copy_modules "$initramfs" root
mkdir -p "$initramfs/dev" "$initramfs/proc" "$initramfs/sys" "$initramfs/newroot"
cp "$work/init" "$initramfs/init"

root=$work/root
cp -r "$source_dir/rootfs" "$root"
copy_modules "$root" 'boot|late|iso9660|vfat'
for directory in bin dev mnt newroot proc root run sbin sys tmp; do mkdir -p "$root/$directory"; done
chmod 1777 "$root/tmp"
cp "$work/init" "$root/sbin/init"
cp "$(command -v busybox)" "$root/bin/busybox"
busybox --list | grep -vx -e busybox -e init | while read -r applet; do ln -s busybox "$root/bin/$applet"; done
ln -s /proc/mounts "$root/etc/mtab"
ln -s /run/resolv.conf "$root/etc/resolv.conf"
(cd "$initramfs" && find . | sort | cpio --quiet -o -H newc -R 0:0) >"$work/initrd"
chown -R 0:0 "$root"

# The whole disk is one ext4, so the image may be copied to a larger disk as it is. extlinux knows neither 64bit nor
# metadata_csum. The journal is there because tests kill machines.
truncate -s "$size" "$work/guest.raw"
mke2fs -q -F -t ext4 -b 4096 -N 1024 -m 0 -J size=4 -O '^64bit,^metadata_csum,^resize_inode' -L guestroot \
    -E nodiscard,lazy_itable_init=0 -d "$root" "$work/guest.raw"
# Kernel and initrd are copied here and not by mke2fs -d, which leaves holes for blocks of zeros: extlinux cannot read a
# file with a hole ("Loading initrd failed: I/O error"). All in a mount namespace of its own: whatever happens, no mount
# and no loop device stays behind.
mkdir "$work/mounted"
timeout 120 unshare --mount --propagation private sh -euc '
    mount -o loop "$1/guest.raw" "$1/mounted"
    cp --sparse=never "$1"/kernel/boot/vmlinuz-* "$1/mounted/boot/vmlinuz"
    cp --sparse=never "$1/initrd" "$1/mounted/boot/initrd"
    extlinux --install "$1/mounted/boot" 2>&1
    umount "$1/mounted"' sh "$work" >"$work/extlinux.log" || die "extlinux: $(cat "$work/extlinux.log")"
e2fsck -fn "$work/guest.raw" >"$work/e2fsck.log" 2>&1 || die "e2fsck: $(cat "$work/e2fsck.log")"

# Not compressed: the kernel, most of it, is already, and a compressed qcow2 boots half a second slower.
qemu-img convert -f raw -O qcow2 "$work/guest.raw" "$work/guest.qcow2"
python3 "$source_dir/oci_archive.py" "$work/guest.qcow2" "$work/guest.oci.tar"

rm -f "$out/guest.stamp"
mv "$work/guest.raw" "$work/guest.qcow2" "$work/guest.oci.tar" "$out/"
echo "$stamp" >"$work/guest.stamp"
mv "$work/guest.stamp" "$out/"
echo "guest built in $1: ${kernel##*/}"
