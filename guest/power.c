// See power.h.
#include "power.h"

#include <fcntl.h>
#include <linux/input.h>
#include <mntent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base.h"

enum { kMountsMax = 64, kInputsMax = 32, kWaitMicroseconds = 10000 };

int watch_power_buttons(int fds[kButtonsMax]) {
    int count = 0;
    for (int i = 0; i < kInputsMax && count < kButtonsMax; i++) {
        char path[32];
        unsigned char keys[KEY_MAX / 8 + 1] = {0};
        snprintf(path, sizeof path, "/dev/input/event%d", i);
        const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0) continue;
        ioctl(fd, EVIOCGBIT(EV_KEY, sizeof keys), keys);
        if (keys[KEY_POWER / 8] & (1 << KEY_POWER % 8))
            fds[count++] = fd;
        else
            close(fd);
    }
    return count;
}

int is_power_pressed(int fd) {
    struct input_event event;
    int is_pressed = 0;
    while (read(fd, &event, sizeof event) == (ssize_t)sizeof event)
        if (event.type == EV_KEY && event.code == KEY_POWER && event.value == 1) is_pressed = 1;
    return is_pressed;
}

static bool wait_for_children(int tries) {
    for (; tries > 0; tries--) {
        pid_t pid;
        while ((pid = waitpid(-1, NULL, WNOHANG)) > 0);
        if (pid < 0) return true;
        usleep(kWaitMicroseconds);
    }
    return false;
}

// Last mounted, first unmounted.
static void unmount_all(void) {
    static char paths[kMountsMax][256];
    int count = 0;
    FILE* mounts = setmntent("/proc/mounts", "r");
    if (mounts) {
        for (struct mntent* entry; count < kMountsMax && (entry = getmntent(mounts));)
            snprintf(paths[count++], sizeof paths[0], "%s", entry->mnt_dir);
        endmntent(mounts);
    }
    sync();
    while (count-- > 0)
        if (strncmp(paths[count], "/dev", 4) != 0 && strcmp(paths[count], "/") != 0) umount2(paths[count], 0);
    mount(NULL, "/", NULL, MS_REMOUNT | MS_RDONLY, NULL);
}

void go_down(int command) {
    say(command == RB_POWER_OFF ? "GUEST-POWEROFF" : "GUEST-REBOOT");
    kill(-1, SIGTERM);
    kill(-1, SIGHUP);  // an interactive shell ignores SIGTERM
    if (!wait_for_children(20)) kill(-1, SIGKILL);
    wait_for_children(20);
    // A disk that does not answer would hold sync() for ever; a child may hang, init must not. 5 s.
    if (fork() == 0) {
        unmount_all();
        _exit(0);
    }
    wait_for_children(500);
    reboot(command);
    for (;;) pause();
}
