#include "image/blank.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace berth::image {
namespace {

Result<void> write_zeros(const Job& job, const Target& target) {
    constexpr std::int64_t kStep = 1 << 20;
    TRY(const Fd fd, target.open_for_writing());
    const std::vector<std::byte> zeros(kStep);
    const std::int64_t size = std::min(job.image_size, target.available()).value;
    for (std::int64_t at = 0; at < size; at += kStep) {
        const auto n = static_cast<std::size_t>(std::min(kStep, size - at));
        TRY_DO(write_at(fd.get(), Chunk(zeros).first(n), at, name_of(target.path())));
    }
    return {};
}

}  // namespace

Result<void> make_blank(const Job& job, Target& target) {
    if (job.content_type == "archive")
        return fail(ErrorKind::invalid, "a blank disk cannot have content type archive: use kubevirt");
    if (target.is_block()) return job.preallocates ? write_zeros(job, target) : Result<void>();
    TRY_DO(target.clear());
    TRY(const Fd fd, target.open_for_writing());
    if (::ftruncate(fd.get(), target.wanted_size().value) != 0) {
        return std::unexpected(system_error("create " + name_of(target.path()), errno));
    }
    return {};
}

}  // namespace berth::image
