// The first stage, in the initramfs: from nothing to the root file system on the disk.
#pragma once

/// Mounts the root disk and starts its /sbin/init. Returns only if that failed, after saying why.
void enter_root(void);
