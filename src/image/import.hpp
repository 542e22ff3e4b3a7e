// The import of one disk, start to finish. Contract: docs/spec/datavolumes.md 3.3 to 3.8
#pragma once

#include "image/convert.hpp"
#include "image/record.hpp"

namespace berth::image {

struct Imported {
    Completion completion;
    bool was_done_before = false;  ///< the node's record said so; nothing was read or written
};

/// Fills the target of a job. Killed at any instant and started again it begins anew and removes what it left; when it
/// returns a value, everything is on disk and the record is written. After an error the target holds no image.
///
/// progress  percent of the source that is read
/// Errors    is_permanent(): the same bytes cannot succeed; the others may. Texts are those of the wire contract.
Result<Imported> import_disk(const Job& job, const Progress& progress);

}  // namespace berth::image
