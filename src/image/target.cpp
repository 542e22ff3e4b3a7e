#include "image/target.hpp"

#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <isa-l/crc64.h>

namespace berth::image {
namespace {

constexpr std::size_t kBlock = 64 * 1024;         // what is zero is found in these
constexpr std::int64_t kWritebackStep = 8 << 20;  // writeback starts in steps of this, so that fsync finds little to do
constexpr std::size_t kZeroWrite = 1 << 20;

bool is_zero(Chunk bytes) {
    return bytes.empty() ||
           (bytes[0] == std::byte{0} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

Result<Bytes> device_size(const std::string& path) {
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.is_open()) return std::unexpected(system_error("open " + path, errno));
    std::uint64_t size = 0;
    if (::ioctl(fd.get(), BLKGETSIZE64, &size) != 0) return std::unexpected(system_error("size of " + path, errno));
    return Bytes{static_cast<std::int64_t>(size)};
}

bool is_block_device(const std::string& path) {
    struct stat found = {};
    return ::stat(path.c_str(), &found) == 0 && S_ISBLK(found.st_mode);
}

}  // namespace

Result<Target> Target::open(const Job& job) {
    if (is_block_device(job.block_device)) {
        TRY(const Bytes size, device_size(job.block_device));
        return Target(job, job.block_device, true, size, size);
    }
    TRY(Bytes room, free_space(parent_of(job.disk_file)));
    // What an earlier try of ours left will be removed first, so it counts as room.
    struct stat left = {};
    if (::stat(job.disk_file.c_str(), &left) == 0) room = room + Bytes{left.st_blocks * 512};
    if (job.image_size.value > 0) room = std::min(room, job.image_size);
    const bool is_thin = job.is_thin && job.image_size.value > 0;
    return Target(job, job.disk_file, false, room, is_thin ? job.image_size : room);
}

std::optional<Error> Target::refusal(Bytes size, Bytes limit) {
    if (size <= limit) return {};
    return Error{
        ErrorKind::invalid,
        "virtual image size " + std::to_string(size.value) + " is larger than the reported available storage " +
            std::to_string(limit.value) + ". A larger PVC is required",
    };
}

Error Target::overflow() const {
    const std::string size = std::to_string(available_.value);
    return {
        ErrorKind::invalid,
        "virtual image size of more than " + size + " is larger than the reported available storage " + size +
            ". A larger PVC is required"
    };
}

Result<void> Target::clear() {
    if (!is_block_) {
        remove_file(path_);
        return {};
    }
    TRY(const Fd fd, open_for_writing());
    // One call empties a thin device. A device that cannot do it for nothing is overwritten as the image comes.
    reads_as_zero_ = ::fallocate(fd.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, available_.value) == 0;
    return {};
}

Result<Fd> Target::open_for_writing() const {
    const int flags = is_block_ ? O_WRONLY | O_EXCL | O_CLOEXEC : O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    Fd fd(::open(path_.c_str(), flags, 0660));
    if (!fd.is_open()) return std::unexpected(system_error("open " + name_of(path_), errno));
    return fd;
}

Bytes Target::wanted_size() const {
    const Bytes usable = datavolume::usable_space(job_->overhead, limit_);
    return job_->image_size.value > 0 ? std::min(usable, job_->image_size) : usable;
}

Result<Bytes> Target::settle() {
    const Fd fd(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
    if (!fd.is_open()) return std::unexpected(system_error("open " + name_of(path_), errno));
    if (is_block_) {
        TRY_DO(sync_file(fd.get(), name_of(path_)));
        return available_;
    }
    struct stat found = {};
    if (::fstat(fd.get(), &found) != 0) return std::unexpected(system_error("look at " + name_of(path_), errno));
    const Bytes size{found.st_size};
    if (const auto refusal = refusal_of(size)) return std::unexpected(*refusal);
    const Bytes wanted = std::max(size, wanted_size());
    if (wanted > size && ::ftruncate(fd.get(), wanted.value) != 0) {
        return std::unexpected(system_error("grow " + name_of(path_), errno));
    }
    if (job_->preallocates) TRY_DO(preallocate(fd.get(), wanted, name_of(path_)));
    if (::fchmod(fd.get(), 0660) != 0) return std::unexpected(system_error("set the mode of " + name_of(path_), errno));
    TRY_DO(sync_file(fd.get(), name_of(path_)));
    TRY_DO(sync_parent(path_));
    return wanted;
}

Result<void> preallocate(int fd, Bytes size, const std::string& name) {
    if (::fallocate(fd, 0, 0, size.value) == 0) return {};
    if (errno != EOPNOTSUPP) return std::unexpected(system_error("preallocate " + name, errno));
    // Slow but sure: the C library writes a byte into each block that has none.
    const int failed = ::posix_fallocate(fd, 0, size.value);
    if (failed != 0) return std::unexpected(system_error("preallocate " + name, failed));
    return {};
}

DiskWriter::DiskWriter(const Target& target, bool writes_zeros) : target_(target), writes_zeros_(writes_zeros) {
    rest_.reserve(kBlock);
}

DiskWriter::~DiskWriter() = default;

Result<void> DiskWriter::open_once() {
    if (fd_.is_open()) return {};
    TRY(fd_, target_.open_for_writing());
    return {};
}

Result<void> DiskWriter::write(Chunk chunk) {
    TRY_DO(open_once());
    length_ += static_cast<std::int64_t>(chunk.size());
    if (length_ > target_.available().value) return std::unexpected(target_.overflow());
    if (!rest_.empty()) {
        const std::size_t missing = std::min(kBlock - rest_.size(), chunk.size());
        rest_.insert(rest_.end(), chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(missing));
        chunk = chunk.subspan(missing);
        if (rest_.size() < kBlock) return {};
        TRY_DO(take_blocks(rest_));
        rest_.clear();
    }
    const std::size_t whole = chunk.size() / kBlock * kBlock;
    if (whole > 0) TRY_DO(take_blocks(chunk.first(whole)));
    rest_.assign(chunk.begin() + static_cast<std::ptrdiff_t>(whole), chunk.end());
    return {};
}

// Runs of blocks with data are written in one call each; runs of zeros are skipped or made holes.
Result<void> DiskWriter::take_blocks(Chunk blocks) {
    std::size_t at = 0;
    while (at < blocks.size()) {
        const bool zero = is_zero(blocks.subspan(at, std::min(kBlock, blocks.size() - at)));
        std::size_t end = at;
        while (end < blocks.size() && is_zero(blocks.subspan(end, std::min(kBlock, blocks.size() - end))) == zero) {
            end = std::min(end + kBlock, blocks.size());
        }
        const std::int64_t offset = position_ + static_cast<std::int64_t>(at);
        if (!zero || writes_zeros_) {
            TRY_DO(put(blocks.subspan(at, end - at), offset));
        } else if (!target_.reads_as_zero()) {
            TRY_DO(put_zeros(offset, static_cast<std::int64_t>(end - at)));
        }
        at = end;
    }
    position_ += static_cast<std::int64_t>(blocks.size());
    start_writeback();
    return {};
}

Result<void> DiskWriter::put(Chunk run, std::int64_t offset) {
    TRY_DO(write_at(fd_.get(), run, offset, name_of(target_.path())));
    const std::int64_t extent[2] = {offset, static_cast<std::int64_t>(run.size())};
    digest_ = crc64_ecma_refl(digest_, reinterpret_cast<const unsigned char*>(extent), sizeof extent);
    digest_ = crc64_ecma_refl(digest_, reinterpret_cast<const unsigned char*>(run.data()), run.size());
    written_ += static_cast<std::int64_t>(run.size());
    return {};
}

// A device with old content: the kernel zeroes a range as cheaply as the device allows.
Result<void> DiskWriter::put_zeros(std::int64_t offset, std::int64_t length) {
    std::uint64_t range[2] = {static_cast<std::uint64_t>(offset), static_cast<std::uint64_t>(length)};
    if (::ioctl(fd_.get(), BLKZEROOUT, &range) == 0) return {};
    static const std::vector<std::byte> zeros(kZeroWrite);
    for (std::int64_t done = 0; done < length;) {
        const auto n = std::min<std::int64_t>(length - done, static_cast<std::int64_t>(kZeroWrite));
        TRY_DO(
            write_at(fd_.get(), Chunk(zeros).first(static_cast<std::size_t>(n)), offset + done, name_of(target_.path()))
        );
        done += n;
    }
    return {};
}

void DiskWriter::start_writeback() {
    if (position_ - flushed_ < kWritebackStep) return;
    ::sync_file_range(fd_.get(), flushed_, position_ - flushed_, SYNC_FILE_RANGE_WRITE);
    flushed_ = position_;
}

Result<void> DiskWriter::finish() {
    TRY_DO(open_once());
    if (!rest_.empty()) TRY_DO(take_blocks(rest_));
    rest_.clear();
    // A guest's disk is whole sectors; QEMU would show the last one only in part.
    const std::int64_t sectors = (length_ + 511) / 512 * 512;
    if (!target_.is_block() && ::ftruncate(fd_.get(), sectors) != 0) {
        return std::unexpected(system_error("set the size of " + name_of(target_.path()), errno));
    }
    fd_.close();
    return {};
}

}  // namespace berth::image
