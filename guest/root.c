// See root.h.
#include "root.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"

static const char kLabel[] = "guestroot";  // build.sh gives the file system this label

enum { kTries = 6000, kTryMicroseconds = 5000 };  // 30 s: a loaded host may be slow to show the disk

// ext2/3/4: magic number and label in the superblock, which starts at byte 1024.
static int is_root(const struct dirent* entry) {
    char path[300];
    unsigned char super[256];
    snprintf(path, sizeof path, "/dev/%s", entry->d_name);
    if (strncmp(entry->d_name, "vd", 2) != 0 && strncmp(entry->d_name, "sd", 2) != 0) return 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    const bool is_read = pread(fd, super, sizeof super, 1024) == (ssize_t)sizeof super;
    close(fd);
    return is_read && super[56] == 0x53 && super[57] == 0xef && strncmp((char*)super + 120, kLabel, 16) == 0;
}

// Two disks may hold this image. The BIOS does not tell which one it booted, so the first in this order it is:
// vda, vdb, ..., vdaa, ..., sda, sdb, ...
static int by_rank(const struct dirent** a, const struct dirent** b) {
    const char* left = (*a)->d_name;
    const char* right = (*b)->d_name;
    if (left[0] != right[0]) return right[0] - left[0];
    if (strlen(left) != strlen(right)) return strlen(left) < strlen(right) ? -1 : 1;
    return strcmp(left, right);
}

static bool find_root(char* path, size_t size) {
    struct dirent** entries = NULL;
    const int count = scandir("/sys/class/block", &entries, is_root, by_rank);
    if (count > 0) snprintf(path, size, "/dev/%s", entries[0]->d_name);
    for (int i = 0; i < count; i++) free(entries[i]);
    free(entries);
    return count > 0;
}

static bool mount_root(const char* device) {
    if (mount(device, "/newroot", "ext4", MS_NOATIME, NULL) == 0) return true;
    // A disk that the host gives read-only still boots.
    if (mount(device, "/newroot", "ext4", MS_NOATIME | MS_RDONLY, "noload") == 0) return true;
    say("GUEST-FAILED mount %s: %s", device, strerror(errno));
    return false;
}

void enter_root(void) {
    const char* const moved[] = {"/proc", "/sys", "/dev"};
    char device[300];
    mkdir("/proc", 0755);
    mkdir("/sys", 0755);
    mkdir("/dev", 0755);
    mkdir("/newroot", 0755);
    mount("proc", "/proc", "proc", 0, NULL);
    mount("sys", "/sys", "sysfs", 0, NULL);
    mount("dev", "/dev", "devtmpfs", 0, NULL);
    open_console();
    load_modules("root");

    bool is_found = false;
    for (int i = 0; i < kTries && !(is_found = find_root(device, sizeof device)); i++) usleep(kTryMicroseconds);
    if (!is_found) {
        say("GUEST-FAILED no disk with label %s", kLabel);
        return;
    }
    if (!mount_root(device)) return;

    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++) {
        char target[32];
        snprintf(target, sizeof target, "/newroot%s", moved[i]);
        mount(moved[i], target, NULL, MS_MOVE, NULL);
    }
    if (chdir("/newroot") || mount(".", "/", NULL, MS_MOVE, NULL) || chroot(".") || chdir("/"))
        say("GUEST-FAILED change root: %s", strerror(errno));
    say("GUEST-ROOT %s", device);
    execl("/sbin/init", "/sbin/init", (char*)NULL);
    say("GUEST-FAILED start /sbin/init: %s", strerror(errno));
}
