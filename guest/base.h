// What every part of the guest's init needs: the console, small files, kernel modules, children.
// Not for anything that knows about disks, power or cloud-init.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/// Opens /dev/console for say(). Call it after /dev is mounted.
void open_console(void);

/// Prints one line. Once an interactive shell shares the console (see console_is_shared), a line break comes first, so
/// that a marker always starts a line, even behind a prompt. One write() a line, so that lines do not mix.
void say(const char* format, ...) __attribute__((format(printf, 1, 2)));

void console_is_shared(void);

/// The file as a string, cut at size - 1 bytes. Returns its length, or -1 if it cannot be read.
ssize_t read_file(const char* path, char* text, size_t size);

bool write_file(const char* path, const char* text, size_t length);

/// Loads the modules that modules.list names for this stage, in its order. One that fails is named on the console.
void load_modules(const char* stage);

/// Starts a program in a session of its own, with the console as its output and nothing as its input.
pid_t start(const char* const argv[]);
