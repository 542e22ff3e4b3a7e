// The guest's process 1, in both of its lives: in the initramfs it finds the root disk (root.h); started again from
// that disk it names disks, runs cloud-init, offers a shell on the serial port and goes down in order. README.md lists
// what it prints. One thread, one poll loop; what takes long runs in a child.
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base.h"
#include "cloud_init.h"
#include "disks.h"
#include "power.h"
#include "root.h"

static pid_t shell_pid = 0;
static pid_t cloud_init_pid = 0;

static void start_shell(useconds_t delay) {
    shell_pid = fork();
    if (shell_pid != 0) return;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    usleep(delay);
    setsid();
    const int fd = open("/dev/ttyS0", O_RDWR);
    // A serial line has no size, and at the assumed 80 columns the line editor would break typed commands in its echo.
    const struct winsize size = {.ws_row = 50, .ws_col = 250};
    ioctl(fd, TIOCSCTTY, 1);
    ioctl(fd, TIOCSWINSZ, &size);
    dup2(fd, 0);
    dup2(fd, 1);
    dup2(fd, 2);
    if (fd > 2) close(fd);
    if (chdir("/root")) _exit(1);
    char* const argv[] = {"sh", "-i", NULL};
    char* const environment[] = {"PATH=/bin:/sbin", "HOME=/root", "TERM=dumb", "PS1=guest# ", NULL};
    execve("/bin/sh", argv, environment);
    _exit(1);
}

static void start_network(void) {
    const pid_t pid = fork();
    if (pid != 0) return;
    load_modules("late");
    const char* const command[] = {"/bin/sh", "/etc/network.sh", NULL};
    start(command);
    _exit(0);
}

static void reap_children(void) {
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        if (pid == cloud_init_pid) {
            cloud_init_pid = 0;
            report_cloud_init(status);
        }
        if (pid == shell_pid) start_shell(300000);  // no busy loop if it cannot start
    }
}

// The signals that busybox poweroff, reboot and halt send to process 1, and SIGINT, the kernel's Ctrl-Alt-Del.
static void handle_signal(int fd) {
    struct signalfd_siginfo signal;
    if (read(fd, &signal, sizeof signal) != (ssize_t)sizeof signal) return;
    if (signal.ssi_signo == SIGUSR1 || signal.ssi_signo == SIGUSR2) go_down(RB_POWER_OFF);
    if (signal.ssi_signo == SIGTERM || signal.ssi_signo == SIGINT) go_down(RB_AUTOBOOT);
    reap_children();
}

static int watch_signals(void) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGUSR1);
    sigaddset(&signals, SIGUSR2);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    reboot(RB_DISABLE_CAD);
    return signalfd(-1, &signals, SFD_CLOEXEC);
}

static void run_guest(void) {
    open_console();
    mkdir("/dev/pts", 0755);
    mount("devpts", "/dev/pts", "devpts", 0, NULL);
    mount("run", "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755");
    sethostname("guest", 5);
    const int signals = watch_signals();
    const int disks = watch_disks();
    load_modules("boot");
    add_present_disks();
    int buttons[kButtonsMax];
    const int button_count = watch_power_buttons(buttons);
    read_cloud_init();

    char uptime[64];
    read_file("/proc/uptime", uptime, sizeof uptime);
    uptime[strcspn(uptime, " ")] = 0;
    say("GUEST-READY %s", uptime);
    console_is_shared();
    start_shell(0);
    cloud_init_pid = start_cloud_init();
    start_network();

    struct pollfd watched[2 + kButtonsMax] = {
        {.fd = signals, .events = POLLIN},
        {.fd = disks,   .events = POLLIN}
    };
    for (int i = 0; i < button_count; i++) watched[2 + i] = (struct pollfd){.fd = buttons[i], .events = POLLIN};
    for (;;) {
        poll(watched, (nfds_t)(2 + button_count), -1);
        if (watched[0].revents) handle_signal(signals);
        if (watched[1].revents) handle_disk_event(disks);
        for (int i = 0; i < button_count; i++)
            if (watched[2 + i].revents && is_power_pressed(buttons[i])) go_down(RB_POWER_OFF);
    }
}

int main(int argc, char** argv) {
    (void)argc;
    if (getpid() != 1) {
        fprintf(stderr, "%s: only the kernel starts this program\n", argv[0]);
        return 1;
    }
    if (strcmp(argv[0], "/init") != 0) run_guest();
    enter_root();
    for (;;) pause();  // an init that returns is a kernel panic, which would hide what was said
}
