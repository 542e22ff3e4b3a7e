// See cloud_init.h.
#include "cloud_init.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base.h"
#include "cloud_config.h"

#define DIRECTORY "/run/cloud-init"

static const char kScript[] = DIRECTORY "/script";
static char user_data[1 << 20];  // longer ones are refused
static bool has_script = false;

struct seed {
    char path[300];
    const char* file_system;  // also the stage of modules.list that brings its driver
};

static bool is_cidata(const unsigned char* label, size_t length) {
    while (length > 0 && (label[length - 1] == ' ' || label[length - 1] == 0)) length--;
    return length == 6 && strncasecmp((const char*)label, "cidata", 6) == 0;
}

// ISO 9660: volume identifier of the primary volume descriptor. FAT: the label in the boot sector, 16 and 32 bit.
static const char* cidata_file_system(int fd) {
    unsigned char volume[128];
    unsigned char boot[512];
    if (pread(fd, volume, sizeof volume, 32768) == (ssize_t)sizeof volume && memcmp(volume, "\1CD001", 6) == 0)
        return is_cidata(volume + 40, 32) ? "iso9660" : NULL;
    if (pread(fd, boot, sizeof boot, 0) != (ssize_t)sizeof boot || boot[510] != 0x55 || boot[511] != 0xaa) return NULL;
    if (memcmp(boot + 54, "FAT", 3) == 0 && is_cidata(boot + 43, 11)) return "vfat";
    if (memcmp(boot + 82, "FAT", 3) == 0 && is_cidata(boot + 71, 11)) return "vfat";
    return NULL;
}

static bool find_seed(struct seed* seed) {
    struct dirent** entries = NULL;
    const int count = scandir("/sys/class/block", &entries, NULL, alphasort);
    seed->file_system = NULL;
    for (int i = 0; i < count; i++) {
        const char* name = entries[i]->d_name;
        const bool is_disk = !strncmp(name, "vd", 2) || !strncmp(name, "sd", 2) || !strncmp(name, "sr", 2);
        if (is_disk && !seed->file_system) {
            snprintf(seed->path, sizeof seed->path, "/dev/%s", name);
            const int fd = open(seed->path, O_RDONLY | O_CLOEXEC);
            if (fd >= 0) seed->file_system = cidata_file_system(fd);
            if (fd >= 0) close(fd);
        }
        free(entries[i]);
    }
    free(entries);
    return seed->file_system;
}

// `local-hostname: web` or, as KubeVirt writes it, `{"local-hostname":"web"}`.
static void set_hostname_from(const char* meta_data) {
    const char* at = strstr(meta_data, "local-hostname");
    if (!at) return;
    at += strlen("local-hostname");
    at += strspn(at, "\"' \t:");
    const size_t length = strcspn(at, "\"', \t\r\n}");
    if (length > 0 && length <= 64 && sethostname(at, length) == 0) say("CLOUD-INIT-HOSTNAME %.*s", (int)length, at);
}

static void prepare_user_data(size_t length) {
    if (length == sizeof user_data - 1) {
        say("CLOUD-INIT-UNSUPPORTED user data of 1 MiB or more");
    } else if (strncmp(user_data, "#!", 2) == 0) {
        has_script = write_file(kScript, user_data, length);
    } else if (strncmp(user_data, "#cloud-config", 13) == 0) {
        static struct cloud_config config;
        read_cloud_config(user_data, &config);
        if (*config.hostname && sethostname(config.hostname, strlen(config.hostname)) == 0)
            say("CLOUD-INIT-HOSTNAME %s", config.hostname);
        has_script = write_file(kScript, config.script, strlen(config.script));
    } else if (user_data[strspn(user_data, " \t\r\n")]) {
        say("CLOUD-INIT-UNSUPPORTED user data must start with #! or #cloud-config");
    }
}

void read_cloud_init(void) {
    static char meta_data[65536];
    struct seed seed;
    if (!find_seed(&seed)) return;
    mkdir(DIRECTORY, 0755);
    mkdir(DIRECTORY "/seed", 0755);
    load_modules(seed.file_system);
    if (mount(seed.path, DIRECTORY "/seed", seed.file_system, MS_RDONLY, NULL)) {
        say("CLOUD-INIT-UNSUPPORTED mount %s: %s", seed.path, strerror(errno));
        return;
    }
    say("CLOUD-INIT-SEED %s %s", seed.path, seed.file_system);
    const ssize_t length = read_file(DIRECTORY "/seed/user-data", user_data, sizeof user_data);
    read_file(DIRECTORY "/seed/meta-data", meta_data, sizeof meta_data);
    umount2(DIRECTORY "/seed", 0);
    set_hostname_from(meta_data);
    if (length > 0) prepare_user_data((size_t)length);
}

pid_t start_cloud_init(void) {
    const char* const command[] = {"/bin/sh", kScript, NULL};
    return has_script ? start(command) : 0;
}

void report_cloud_init(int status) {
    say("CLOUD-INIT-DONE rc=%d", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}
