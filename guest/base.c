// See base.h.
#include "base.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int console = 2;
static bool is_shared = false;

void open_console(void) {
    const int fd = open("/dev/console", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0) console = fd;
}

void console_is_shared(void) { is_shared = true; }

void say(const char* format, ...) {
    char line[1024];
    size_t length = 0;
    if (is_shared) line[length++] = '\n';
    va_list args;
    va_start(args, format);
    vsnprintf(line + length, sizeof line - length - 1, format, args);
    va_end(args);
    length = strlen(line);
    line[length++] = '\n';
    (void)!write(console, line, length);
}

ssize_t read_file(const char* path, char* text, size_t size) {
    text[0] = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    size_t length = 0;
    ssize_t got = 0;
    while (length < size - 1 && (got = read(fd, text + length, size - 1 - length)) > 0) length += (size_t)got;
    close(fd);
    text[length] = 0;
    return got < 0 ? -1 : (ssize_t)length;
}

bool write_file(const char* path, const char* text, size_t length) {
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
    if (fd < 0) return false;
    const bool is_written = write(fd, text, length) == (ssize_t)length;
    close(fd);
    return is_written;
}

void load_modules(const char* stage) {
    char list[4096];
    read_file("/lib/modules/modules.list", list, sizeof list);
    char* rest = list;
    for (char* line; (line = strsep(&rest, "\n"));) {
        char of_stage[32];
        char name[64];
        char path[128];
        if (sscanf(line, "%31s %63s", of_stage, name) != 2 || strcmp(of_stage, stage) != 0) continue;
        snprintf(path, sizeof path, "/lib/modules/%s.ko", name);
        const int fd = open(path, O_RDONLY | O_CLOEXEC);
        // finit_module waits for the asynchronous probing it caused, so disks are there when it returns.
        if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST))
            say("module %s: %s", name, strerror(errno));
        if (fd >= 0) close(fd);
    }
}

pid_t start(const char* const argv[]) {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    const int null = open("/dev/null", O_RDONLY);
    dup2(null, 0);
    dup2(console, 1);
    dup2(console, 2);
    const char* const environment[] = {"PATH=/bin:/sbin", "HOME=/root", "TERM=dumb", NULL};
    execve(argv[0], (char* const*)argv, (char* const*)environment);
    _exit(127);
}
