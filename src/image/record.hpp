// What a worker leaves for whoever comes next: the node's record that a claim is filled, and, for its own next try, why
// the last one could not succeed. No credential is in either.
#pragma once

#include <optional>
#include <string>

#include "image/http.hpp"
#include "image/job.hpp"

namespace berth::image {

/// The fact that a claim is filled: written after everything is on disk.
struct Completion {
    std::string claim_uid;
    std::string source;     ///< source_id() of the job
    std::string validator;  ///< of the remote; "" = unknown
    std::int64_t source_bytes = 0;
    Bytes virtual_size;
    Bytes data_bytes;      ///< in extents that are not zero
    std::string digest;    ///< "crc64:<hex>" over those extents; "" where QEMU wrote them
    std::string checksum;  ///< that was asked for and found right
    bool is_preallocated = false;
    bool operator==(const Completion&) const = default;
};

/// A hash of what the job reads from and how it checks it.
std::string source_id(const Job& job);

/// None: no record directory, or none for this claim and source.
std::optional<Completion> find_completion(const Job& job);
/// Errors  io
Result<void> write_completion(const Job& job, const Completion& completion);

/// Remembers an error that the same bytes of the same source would bring again.
void remember_verdict(const Job& job, const std::string& validator, Bytes available, const Error& error);
/// The error of the last try, when neither source, validator nor room changed since; none when they cannot be told.
std::optional<Error> recall_verdict(const Job& job, const std::string& validator, Bytes available);

}  // namespace berth::image
