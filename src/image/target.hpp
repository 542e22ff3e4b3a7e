// The disk to fill: a file in a file system, or a block device. Zero runs cost nothing where the kernel can make holes.
// Contract: docs/spec/datavolumes.md 3.7, 3.8
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "image/file.hpp"
#include "image/job.hpp"

namespace berth::image {

class Target {
public:
    /// Looks at what is there; changes nothing.
    /// Errors  invalid: neither a device nor a directory; io
    static Result<Target> open(const Job& job);

    [[nodiscard]] bool is_block() const { return is_block_; }
    [[nodiscard]] const std::string& path() const { return path_; }
    /// What a disk may have at most: the device's size, or what file system and claim both have. Measured once, at
    /// open.
    [[nodiscard]] Bytes available() const { return available_; }
    /// The same for a disk that takes room only where it has data: on a thin volume, what the claim has.
    [[nodiscard]] Bytes limit() const { return limit_; }
    /// Why a disk of this size does not fit; none when it does.
    [[nodiscard]] std::optional<Error> refusal_of(Bytes virtual_size) const { return refusal(virtual_size, limit_); }
    /// The same for one that comes as a stream of all its bytes.
    [[nodiscard]] std::optional<Error> refusal_of_stream(Bytes length) const { return refusal(length, available_); }

    /// The same for a disk whose size is not known and that goes on beyond what there is.
    [[nodiscard]] Error overflow() const;

    /// Removes what an earlier try left: the file, or the device's content where that costs nothing.
    Result<void> clear();
    /// After clear(): creates the file, or opens the device alone.
    Result<Fd> open_for_writing() const;
    /// The device reads as zero everywhere, so zero runs can be skipped.
    [[nodiscard]] bool reads_as_zero() const { return reads_as_zero_; }

    /// Grows a file to the size the claim is for; never shrinks; a device stays as it is. Then mode 0660 and fsync of
    /// file and directory.
    Result<Bytes> settle();
    /// The size of disk that settle() grows to (file systems).
    [[nodiscard]] Bytes wanted_size() const;

private:
    Target(const Job& job, std::string path, bool is_block, Bytes available, Bytes limit)
        : job_(&job), path_(std::move(path)), is_block_(is_block), available_(available), limit_(limit) {}

    static std::optional<Error> refusal(Bytes size, Bytes limit);

    const Job* job_;
    std::string path_;
    bool is_block_;
    Bytes available_;
    Bytes limit_;
    bool reads_as_zero_ = true;
};

/// The last stage: writes a raw disk. Also computes a digest over what it wrote.
class DiskWriter final : public Stage {
public:
    DiskWriter(const Target& target, bool writes_zeros);
    ~DiskWriter() override;

    Result<void> write(Chunk chunk) override;
    Result<void> finish() override;

    [[nodiscard]] Bytes length() const { return {length_}; }
    [[nodiscard]] Bytes written() const { return {written_}; }
    /// CRC-64 over the extents that hold data: their offsets, lengths and bytes.
    [[nodiscard]] std::uint64_t digest() const { return digest_; }

private:
    Result<void> open_once();
    Result<void> take_blocks(Chunk blocks);
    Result<void> put(Chunk run, std::int64_t offset);
    Result<void> put_zeros(std::int64_t offset, std::int64_t length);
    void start_writeback();

    const Target& target_;
    bool writes_zeros_;
    Fd fd_;
    std::vector<std::byte> rest_;  ///< less than one block
    std::int64_t length_ = 0;      ///< of the disk so far, `rest_` included
    std::int64_t position_ = 0;    ///< of the first byte of `rest_`
    std::int64_t written_ = 0;
    std::int64_t flushed_ = 0;  ///< up to here writeback has been asked for
    std::uint64_t digest_ = 0;
};

/// Reserves room so that every byte up to `size` has its place.
Result<void> preallocate(int fd, Bytes size, const std::string& name);

}  // namespace berth::image
