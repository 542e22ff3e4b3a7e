// Names for disks, as udev gives them: /dev/disk/by-id links kept from the kernel's uevents, and a console line per
// change.
#pragma once

/// Starts to listen for uevents. Returns a descriptor to poll.
int watch_disks(void);

/// Links and announces the disks that are there and not yet known.
void add_present_disks(void);

/// Handles one uevent that waits on the descriptor of watch_disks().
void handle_disk_event(int fd);
