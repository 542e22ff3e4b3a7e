// A very small cloud-init: the NoCloud data source, with a script or a little #cloud-config as user data.
// https://cloudinit.readthedocs.io/en/latest/reference/datasources/nocloud.html
#pragma once

#include <sys/types.h>

/// Looks for a disk labelled "cidata", sets the host name it asks for and copies its user data to /run/cloud-init.
/// The disk is not in use afterwards. Says what it found.
void read_cloud_init(void);

/// Runs the user data, if there is any to run. Returns the process, or 0.
pid_t start_cloud_init(void);

/// Says CLOUD-INIT-DONE for the wait status of that process.
void report_cloud_init(int status);
