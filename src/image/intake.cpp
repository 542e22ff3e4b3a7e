#include "image/intake.hpp"

#include <algorithm>

namespace berth::image {

Result<void> Intake::choose() {
    Format format = format_of(header_);
    const bool is_layer = is_compressed(format) && !seen_.contains(format) && decodes(format, header_);
    if (is_layer) {
        std::set<Format> seen = seen_;
        seen.insert(format);
        next_ = make_decoder(format, std::unique_ptr<Stage>(new Intake(route_, std::move(seen))));
        return {};
    }
    if (is_compressed(format)) format = Format::raw;
    TRY(next_, (*route_)(format, header_, static_cast<int>(seen_.size())));
    return {};
}

Result<void> Intake::write(Chunk chunk) {
    if (next_) return next_->write(chunk);
    const std::size_t missing = std::min(kLookBytes - header_.size(), chunk.size());
    header_.insert(header_.end(), chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(missing));
    if (header_.size() < kLookBytes) return {};
    TRY_DO(choose());
    const std::vector<std::byte> header = std::exchange(header_, {});
    TRY_DO(next_->write(header));
    return next_->write(chunk.subspan(missing));
}

Result<void> Intake::finish() {
    if (!next_) {
        // A disk of zeros compresses to less than a header; a disk itself is never that small.
        const bool may_be_short = is_compressed(format_of(header_)) && header_.size() >= 4;
        if (header_.size() < kHeaderBytes && !may_be_short) {
            return fail(
                ErrorKind::invalid,
                "could not process image header: the image has only " + std::to_string(header_.size()) +
                    " bytes: check the URL"
            );
        }
        TRY_DO(choose());
        const std::vector<std::byte> header = std::exchange(header_, {});
        TRY_DO(next_->write(header));
    }
    return next_->finish();
}

}  // namespace berth::image
