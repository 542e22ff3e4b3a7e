// The part of #cloud-config that the guest knows: `hostname: NAME`, and `runcmd:` as a list of plain strings.
// Not a YAML parser: other keys are named on the console and skipped.
#pragma once

struct cloud_config {
    char hostname[65];     // empty: none
    char script[1 << 20];  // the commands of runcmd, a line each
};

void read_cloud_config(const char* text, struct cloud_config* config);
