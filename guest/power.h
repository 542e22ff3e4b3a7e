// How the guest goes down: the ACPI power button, and an orderly end in a bounded time.
#pragma once

enum { kButtonsMax = 8 };

/// Opens the input devices that have a power key. Returns how many descriptors it put into `fds`.
int watch_power_buttons(int fds[kButtonsMax]);

/// Reads what the input device has to say; true if the power key was pressed.
int is_power_pressed(int fd);

/// Ends all processes, syncs, unmounts, and gives `command` (RB_POWER_OFF, RB_AUTOBOOT) to the kernel. Does not return.
void go_down(int command) __attribute__((noreturn));
