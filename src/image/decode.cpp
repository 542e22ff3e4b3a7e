#include "image/decode.hpp"

#include <lzma.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

#include <isa-l/igzip_lib.h>

namespace berth::image {
namespace {

constexpr std::size_t kOutput = 1 << 20;

std::unexpected<Error> damaged(const char* format, const std::string& why) {
    return fail(
        ErrorKind::invalid, std::string("the image's ") + format + " data is damaged: " + why + ": replace the image"
    );
}

class Discard final : public Stage {
public:
    Result<void> write(Chunk) override { return {}; }
    Result<void> finish() override { return {}; }
};

class Gzip final : public Stage {
public:
    explicit Gzip(std::unique_ptr<Stage> next) : next_(std::move(next)), out_(kOutput) { begin_member(); }

    Result<void> write(Chunk chunk) override {
        while (!chunk.empty()) {
            if (is_between_) {
                TRY_DO(next_member(chunk));
                continue;
            }
            TRY_DO(inflate_some(chunk));
        }
        return {};
    }
    Result<void> finish() override {
        if (!is_between_ || between_.size() == 1) return damaged("gzip", "it ends in the middle");
        return next_->finish();
    }

private:
    void begin_member() {
        isal_inflate_init(&state_);
        state_.crc_flag = ISAL_GZIP;
        is_between_ = false;
    }
    Result<void> inflate_some(Chunk& chunk) {
        const std::size_t take = std::min<std::size_t>(chunk.size(), 1 << 30);
        state_.next_in =
            const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(chunk.data()));  // ISA-L only reads it
        state_.avail_in = static_cast<std::uint32_t>(take);
        do {
            state_.next_out = reinterpret_cast<std::uint8_t*>(out_.data());
            state_.avail_out = static_cast<std::uint32_t>(out_.size());
            const int code = isal_inflate(&state_);
            if (code != ISAL_DECOMP_OK && code != ISAL_END_INPUT && code != ISAL_OUT_OVERFLOW)
                return damaged("gzip", reason(code));
            const std::size_t made = out_.size() - state_.avail_out;
            if (made > 0) TRY_DO(next_->write(Chunk(out_).first(made)));
            is_between_ = state_.block_state == ISAL_BLOCK_FINISH;
        } while (!is_between_ && (state_.avail_in > 0 || state_.avail_out == 0));
        chunk = chunk.subspan(take - state_.avail_in);
        return {};
    }
    // After a member comes another one, or padding of zeros, or nothing.
    Result<void> next_member(Chunk& chunk) {
        while (!chunk.empty() && between_.size() < 2) {
            const std::byte b = chunk.front();
            if (between_.empty() && b == std::byte{0}) {
                chunk = chunk.subspan(1);
                continue;
            }
            between_.push_back(b);
            chunk = chunk.subspan(1);
        }
        if (between_.size() < 2) return {};
        if (between_[0] != std::byte{0x1F} || between_[1] != std::byte{0x8B})
            return damaged("gzip", "something else follows its end");
        begin_member();
        const std::vector<std::byte> magic = std::exchange(between_, {});
        Chunk first(magic);
        return inflate_some(first);
    }
    static std::string reason(int code) {
        return code == ISAL_INCORRECT_CHECKSUM ? "its checksum does not match"
                                               : "error " + std::to_string(code) + " of the decoder";
    }

    std::unique_ptr<Stage> next_;
    std::vector<std::byte> out_;
    inflate_state state_ = {};
    bool is_between_ = false;
    std::vector<std::byte> between_;
};

class Xz final : public Stage {
public:
    explicit Xz(std::unique_ptr<Stage> next) : next_(std::move(next)), out_(kOutput) {
        lzma_mt options = {};
        options.flags = LZMA_CONCATENATED;
        options.threads = std::clamp(std::thread::hardware_concurrency(), 1U, 8U);
        options.memlimit_threading = 256U << 20;  // beyond this it goes on with one thread
        options.memlimit_stop = 400U << 20;       // beyond this it would not fit a worker
        started_ = lzma_stream_decoder_mt(&stream_, &options);
    }
    ~Xz() override { lzma_end(&stream_); }

    Result<void> write(Chunk chunk) override {
        stream_.next_in = reinterpret_cast<const std::uint8_t*>(chunk.data());
        stream_.avail_in = chunk.size();
        while (stream_.avail_in > 0) TRY_DO(step(LZMA_RUN));
        return {};
    }
    Result<void> finish() override {
        while (!ended_) TRY_DO(step(LZMA_FINISH));
        return next_->finish();
    }

private:
    Result<void> step(lzma_action action) {
        if (started_ != LZMA_OK)
            return fail(ErrorKind::io, "the xz decoder cannot be started: error " + std::to_string(started_));
        stream_.next_out = reinterpret_cast<std::uint8_t*>(out_.data());
        stream_.avail_out = out_.size();
        const lzma_ret code = lzma_code(&stream_, action);
        const std::size_t made = out_.size() - stream_.avail_out;
        if (made > 0) TRY_DO(next_->write(Chunk(out_).first(made)));
        ended_ = code == LZMA_STREAM_END;
        if (code == LZMA_OK || ended_) return {};
        if (code == LZMA_BUF_ERROR) return damaged("xz", "it ends in the middle");
        if (code == LZMA_MEMLIMIT_ERROR)
            return damaged("xz", "it needs more memory than a worker has: compress it with -6 or less");
        return damaged("xz", "error " + std::to_string(code) + " of the decoder");
    }

    std::unique_ptr<Stage> next_;
    std::vector<std::byte> out_;
    lzma_stream stream_ = LZMA_STREAM_INIT;
    lzma_ret started_ = LZMA_OK;
    bool ended_ = false;
};

class Zstd final : public Stage {
public:
    explicit Zstd(std::unique_ptr<Stage> next) : next_(std::move(next)), out_(kOutput) {}

    Result<void> write(Chunk chunk) override {
        ZSTD_inBuffer in{chunk.data(), chunk.size(), 0};
        bool is_full = false;
        while (in.pos < in.size || is_full) {
            ZSTD_outBuffer out{out_.data(), out_.size(), 0};
            hint_ = ZSTD_decompressStream(context_.get(), &out, &in);
            if (ZSTD_isError(hint_) != 0) return damaged("zstd", ZSTD_getErrorName(hint_));
            if (out.pos > 0) TRY_DO(next_->write(Chunk(out_).first(out.pos)));
            is_full = out.pos == out.size && hint_ != 0;
        }
        return {};
    }
    Result<void> finish() override {
        if (hint_ != 0) return damaged("zstd", "it ends in the middle");
        return next_->finish();
    }

private:
    std::unique_ptr<Stage> next_;
    std::vector<std::byte> out_;
    std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context_{ZSTD_createDCtx(), &ZSTD_freeDCtx};
    std::size_t hint_ = 0;  ///< 0 at the end of a frame
};

}  // namespace

std::unique_ptr<Stage> make_decoder(Format format, std::unique_ptr<Stage> next) {
    switch (format) {
        case Format::gzip: return std::make_unique<Gzip>(std::move(next));
        case Format::xz: return std::make_unique<Xz>(std::move(next));
        case Format::zstd: return std::make_unique<Zstd>(std::move(next));
        case Format::raw:
        case Format::qcow2:
        case Format::vmdk:
        case Format::vdi:
        case Format::vhd:
        case Format::vhdx: break;
    }
    return next;
}

bool decodes(Format format, Chunk header) {
    const std::unique_ptr<Stage> trial = make_decoder(format, std::make_unique<Discard>());
    return trial->write(header).has_value();
}

}  // namespace berth::image
