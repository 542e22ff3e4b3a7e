// See disks.h. The names follow systemd's 60-persistent-storage.rules:
//   virtio-SERIAL                     virtio-blk
//   scsi-SVENDOR_MODEL_SERIAL         SCSI, unit serial number (VPD page 0x80)
//   scsi-0VENDOR_MODEL_ID             SCSI, T10 vendor designator (VPD page 0x83)
//   wwn-0xNAA, scsi-3NAA              SCSI, world wide name (VPD page 0x83)
// each with -partN for a partition. QEMU puts `serial=` in both pages, so a SCSI disk with a serial has both scsi-
// links.
#include "disks.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"

enum { kDisksMax = 512, kNameMax = 32 };  // further disks are left alone

static const char kById[] = "/dev/disk/by-id";
static char known[kDisksMax][kNameMax];  // "" is a free place

struct disk {
    const char* device;     // sda1
    char whole[kNameMax];   // sda
    char suffix[kNameMax];  // -part1
    char links[512];        // what was linked, for the console
};

static char* find_known(const char* device) {
    for (int i = 0; i < kDisksMax; i++)
        if (strcmp(known[i], device) == 0) return known[i];
    return NULL;
}

// udev's rule: outer blanks go, inner runs of blanks and characters that are unsafe in a name become one underscore.
static void make_name(char* text) {
    char* out = text;
    for (const char* in = text; *in; in++) {
        const bool is_safe = isalnum((unsigned char)*in) || strchr("#+-.:=@_", *in);
        if (is_safe)
            *out++ = *in;
        else if (out != text && out[-1] != '_')
            *out++ = '_';
    }
    while (out != text && out[-1] == '_') out--;
    *out = 0;
}

static ssize_t read_attribute(const char* disk, const char* attribute, char* text, size_t size) {
    char path[128];
    snprintf(path, sizeof path, "/sys/class/block/%s/%s", disk, attribute);
    return read_file(path, text, size);
}

static void add_link(struct disk* disk, const char* prefix, const char* id) {
    char path[512];
    char target[64];
    const size_t used = strlen(disk->links);
    if (!*id) return;
    snprintf(path, sizeof path, "%s/%s%s%s", kById, prefix, id, disk->suffix);
    snprintf(target, sizeof target, "../../%s", disk->device);
    unlink(path);
    if (symlink(target, path) == 0) snprintf(disk->links + used, sizeof disk->links - used, " %s", path + sizeof kById);
}

static void remove_links(const char* device) {
    DIR* directory = opendir(kById);
    if (!directory) return;
    char wanted[64];
    snprintf(wanted, sizeof wanted, "../../%s", device);
    for (struct dirent* entry; (entry = readdir(directory));) {
        char target[64];
        const ssize_t length = readlinkat(dirfd(directory), entry->d_name, target, sizeof target - 1);
        if (length < 0) continue;
        target[length] = 0;
        if (strcmp(target, wanted) == 0) unlinkat(dirfd(directory), entry->d_name, 0);
    }
    closedir(directory);
}

static void link_virtio(struct disk* disk) {
    char serial[64];
    read_attribute(disk->whole, "serial", serial, sizeof serial);
    make_name(serial);
    add_link(disk, "virtio-", serial);
}

// One designator of VPD page 0x83 (SPC-4, 7.8.6): code set, type, length, bytes.
static void link_designator(struct disk* disk, const char* model, const unsigned char* field) {
    const int code_set = field[0] & 15;
    const int type = field[1] & 15;
    const int length = field[3];
    char text[256];
    char id[384];
    if (code_set == 2 && type == 0) {
        snprintf(text, sizeof text, "%.*s", length, (const char*)field + 4);
        make_name(text);
        snprintf(id, sizeof id, "%s_%s", model, text);
        if (*text) add_link(disk, "scsi-0", id);
    } else if (code_set == 1 && type == 3 && length <= 16) {
        for (int i = 0; i < length; i++) snprintf(text + 2 * i, 3, "%02x", field[4 + i]);
        add_link(disk, "wwn-0x", text);
        add_link(disk, "scsi-3", text);
    }
}

static void link_scsi(struct disk* disk) {
    char vendor[32];
    char model[32];
    char both[72];
    char page[512];
    char id[384];
    read_attribute(disk->whole, "device/vendor", vendor, sizeof vendor);
    read_attribute(disk->whole, "device/model", model, sizeof model);
    make_name(vendor);
    make_name(model);
    snprintf(both, sizeof both, "%s_%s", vendor, model);

    if (read_attribute(disk->whole, "device/vpd_pg80", page, sizeof page) > 4) {
        char* serial = page + 4;
        make_name(serial);
        snprintf(id, sizeof id, "%s_%s", both, serial);
        if (*serial) add_link(disk, "scsi-S", id);
    }
    const ssize_t length = read_attribute(disk->whole, "device/vpd_pg83", page, sizeof page);
    for (ssize_t at = 4; at + 4 <= length;) {
        const unsigned char* field = (const unsigned char*)page + at;
        at += 4 + field[3];
        if (at <= length) link_designator(disk, both, field);
    }
}

static void add_disk(const char* device) {
    const bool is_virtio = strncmp(device, "vd", 2) == 0;
    const bool is_scsi = strncmp(device, "sd", 2) == 0;
    const bool is_cdrom = strncmp(device, "sr", 2) == 0;
    char sectors[32];
    char* place = find_known("");
    if ((!is_virtio && !is_scsi && !is_cdrom) || !place || find_known(device)) return;
    if (strlen(device) >= kNameMax || read_attribute(device, "size", sectors, sizeof sectors) < 0) return;

    struct disk disk = {.device = device};
    snprintf(disk.whole, sizeof disk.whole, "%s", device);
    const size_t letters = strcspn(device, "0123456789");
    if (!is_cdrom && device[letters]) {
        disk.whole[letters] = 0;
        snprintf(disk.suffix, sizeof disk.suffix, "-part%.20s", device + letters);
    }
    if (is_virtio)
        link_virtio(&disk);
    else
        link_scsi(&disk);
    snprintf(place, kNameMax, "%s", device);
    say("BLK add %s sectors=%ld%s", device, atol(sectors), disk.links);
}

static void remove_disk(const char* device) {
    char* place = find_known(device);
    if (!place || !*device) return;
    *place = 0;
    remove_links(device);
    say("BLK remove %s", device);
}

static void report_size(const char* device) {
    char sectors[32];
    if (!find_known(device) || read_attribute(device, "size", sectors, sizeof sectors) < 0) return;
    say("BLK resize %s sectors=%ld", device, atol(sectors));
}

int watch_disks(void) {
    mkdir("/dev/disk", 0755);
    mkdir(kById, 0755);
    const int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);
    const struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = 1};
    const int size = 1 << 20;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size);
    if (bind(fd, (const struct sockaddr*)&address, sizeof address)) say("uevents: %s", strerror(errno));
    return fd;
}

// In order of name, so that a disk comes before its partitions.
void add_present_disks(void) {
    struct dirent** entries = NULL;
    const int count = scandir("/sys/class/block", &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        add_disk(entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

// Events were lost: compare what is known with what is there.
static void look_again(void) {
    for (int i = 0; i < kDisksMax; i++) {
        char path[64];
        char device[kNameMax];
        snprintf(device, sizeof device, "%s", known[i]);
        snprintf(path, sizeof path, "/sys/class/block/%s", device);
        if (*device && access(path, F_OK)) remove_disk(device);
    }
    add_present_disks();
}

void handle_disk_event(int fd) {
    char event[8192];
    const ssize_t length = recv(fd, event, sizeof event - 1, 0);
    if (length < 0) {
        if (errno == ENOBUFS) look_again();
        return;
    }
    event[length] = 0;
    const char* action = "";
    const char* subsystem = "";
    const char* device = "";
    bool is_resize = false;
    for (const char* field = event; field < event + length; field += strlen(field) + 1) {
        if (strncmp(field, "ACTION=", 7) == 0) action = field + 7;
        if (strncmp(field, "SUBSYSTEM=", 10) == 0) subsystem = field + 10;
        if (strncmp(field, "DEVNAME=", 8) == 0) device = field + 8;
        if (strcmp(field, "RESIZE=1") == 0) is_resize = true;
    }
    if (strcmp(subsystem, "block") != 0 || !*device) return;
    if (strcmp(action, "add") == 0) add_disk(device);
    if (strcmp(action, "remove") == 0) remove_disk(device);
    if (strcmp(action, "change") == 0 && is_resize) report_size(device);
}
