// What one run of the import worker is to do, read from its environment (docs/spec/datavolumes.md 3.2), and where
// things are.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/text.hpp"
#include "datavolume/size.hpp"

namespace berth::image {

struct Job {
    std::string source;    ///< "http" or "none"
    std::string endpoint;  ///< URL
    std::string content_type = "kubevirt";
    Bytes image_size;      ///< what the claim asked for; 0 = not said
    bool is_thin = false;  ///< the volume is a share of the node's file system, and the claim its size
    datavolume::Overhead overhead;
    std::string claim_uid;
    std::string owner_uid;
    bool preallocates = false;
    bool trusts_any_certificate = false;
    std::string checksum;  ///< "sha256:<hex>"; "" = none
    std::string user;
    std::string password;
    std::string cert_dir;  ///< PEM files to trust beside the system's; "" = none
    std::vector<std::string> headers;
    std::vector<std::string> secret_headers;

    std::string disk_file = "/data/disk.img";
    std::string block_device = "/dev/cdi-block-volume";  ///< fills this instead, when it is there
    std::string spool_dir = "/scratch";        ///< for what cannot be converted on the way; "" = beside the disk
    std::string state_dir = "/var/run/berth";  ///< progress, and what the last try found out
    std::string record_dir;                    ///< the node's completion records; "" = none are kept
    std::string termination_log = "/dev/termination-log";
    std::chrono::seconds stall_timeout{600};  ///< without a byte, or without a step of a conversion
};

/// Looks up one variable; none when it is not set.
using Lookup = std::function<std::optional<std::string>(const std::string& name)>;

/// Errors  invalid: a variable is missing or cannot be read
Result<Job> read_job(const Lookup& lookup);

}  // namespace berth::image
