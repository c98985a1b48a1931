// Expanding .gz, .zst, .xz and .bz2 while reading. One class pulls packed bytes in pieces of 256 KiB, counts what came
// out and tells what is wrong; a codec knows one format.

#include "core/data/source/byte_source.h"

#include "core/base/format.h"
#include "core/base/sentence.h"

#include <bzlib.h>
#include <lzma.h>
#include <vector>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

namespace furrow {

namespace {

constexpr std::size_t kPiece = 256 << 10;
constexpr std::uint64_t kMostMemory = 128ull << 20; ///< that a file may ask of who expands it
constexpr std::size_t kMostAtOnce = 1u << 30; ///< what zlib and libbz2 can count

/// What one call of a codec did.
struct Step {
    std::size_t used = 0; ///< of the packed bytes
    std::size_t made = 0;
    bool memberEnded = false; ///< all of this member (gzip), frame (zstd) or stream (xz, bzip2) came out
    bool needsTooMuch = false; ///< more than kMostMemory
    const char* damage = nullptr; ///< not null: what is wrong with the packed bytes
};

class Codec {
public:
    Codec() = default;
    virtual ~Codec() = default;
    Codec(const Codec&) = delete;
    Codec& operator=(const Codec&) = delete;
    /// Makes ready for a member that begins with `next`. false: what follows is none, and to be left alone.
    virtual bool begin(std::span<const char> next, int membersBefore) = 0;
    virtual Step expand(std::span<char> in, std::span<char> out) = 0;
};

class ZlibCodec : public Codec {
public:
    /// @param windowBits  as of inflateInit2
    explicit ZlibCodec(int windowBits)
        : isGzip_(windowBits > 15)
        , usable_(inflateInit2(&z_, windowBits) == Z_OK)
    {
    }
    ~ZlibCodec() override { inflateEnd(&z_); }
    /// Zeros behind the last member, which fill up a tape or a block, are left alone. Anything else is a member, or
    /// damage: it may have been one.
    bool begin(std::span<const char> next, int membersBefore) override
    {
        if (membersBefore > 0 && (!isGzip_ || next[0] == '\0'))
            return false;
        inflateReset(&z_);
        return true;
    }
    Step expand(std::span<char> in, std::span<char> out) override
    {
        if (!usable_)
            return { .needsTooMuch = true };
        z_.next_in = reinterpret_cast<Bytef*>(in.data());
        z_.avail_in = static_cast<uInt>(in.size());
        z_.next_out = reinterpret_cast<Bytef*>(out.data());
        z_.avail_out = static_cast<uInt>(out.size());
        const int code = inflate(&z_, Z_NO_FLUSH);
        Step step { in.size() - z_.avail_in, out.size() - z_.avail_out, code == Z_STREAM_END };
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
            step.damage = z_.msg ? z_.msg : "wrong data";
        return step;
    }

private:
    bool isGzip_;
    z_stream z_ {};
    bool usable_;
};

/// Also of several frames, and of frames that are to be skipped (pzstd, seekable zstd).
class ZstdCodec : public Codec {
public:
    ZstdCodec()
        : z_(ZSTD_createDStream())
    {
        constexpr int kMostWindowLog = 27;
        static_assert(1ull << kMostWindowLog == kMostMemory);
        ZSTD_DCtx_setParameter(z_, ZSTD_d_windowLogMax, kMostWindowLog);
    }
    ~ZstdCodec() override { ZSTD_freeDStream(z_); }
    bool begin(std::span<const char>, int) override { return true; }
    Step expand(std::span<char> packed, std::span<char> into) override
    {
        ZSTD_inBuffer in { packed.data(), packed.size(), 0 };
        ZSTD_outBuffer out { into.data(), into.size(), 0 };
        const std::size_t code = ZSTD_decompressStream(z_, &out, &in);
        Step step { in.pos, out.pos, code == 0 };
        if (ZSTD_isError(code) != 0) {
            step.needsTooMuch = ZSTD_getErrorCode(code) == ZSTD_error_frameParameter_windowTooLarge;
            step.damage = ZSTD_getErrorName(code);
        }
        return step;
    }

private:
    ZSTD_DStream* z_;
};

/// All streams of a file and the padding between them are one member.
class XzCodec : public Codec {
public:
    ~XzCodec() override { lzma_end(&z_); }
    bool begin(std::span<const char>, int membersBefore) override
    {
        if (membersBefore == 0)
            started_ = lzma_stream_decoder(&z_, kMostMemory, LZMA_CONCATENATED);
        return membersBefore == 0;
    }
    Step expand(std::span<char> in, std::span<char> out) override
    {
        if (started_ != LZMA_OK)
            return { .needsTooMuch = true };
        z_.next_in = reinterpret_cast<const std::uint8_t*>(in.data());
        z_.avail_in = in.size();
        z_.next_out = reinterpret_cast<std::uint8_t*>(out.data());
        z_.avail_out = out.size();
        const lzma_ret code = lzma_code(&z_, in.empty() ? LZMA_FINISH : LZMA_RUN);
        Step step { in.size() - z_.avail_in, out.size() - z_.avail_out, code == LZMA_STREAM_END,
            code == LZMA_MEMLIMIT_ERROR || code == LZMA_MEM_ERROR };
        if (code != LZMA_OK && code != LZMA_STREAM_END && code != LZMA_BUF_ERROR)
            step.damage = code == LZMA_FORMAT_ERROR ? "no xz header"
                : code == LZMA_OPTIONS_ERROR        ? "unknown options"
                                                    : "wrong data";
        return step;
    }

private:
    lzma_stream z_ = LZMA_STREAM_INIT;
    lzma_ret started_ = LZMA_OK;
};

class Bzip2Codec : public Codec {
public:
    ~Bzip2Codec() override { BZ2_bzDecompressEnd(&z_); }
    bool begin(std::span<const char>, int) override
    {
        BZ2_bzDecompressEnd(&z_);
        z_ = {};
        started_ = BZ2_bzDecompressInit(&z_, 0, 0);
        return true;
    }
    Step expand(std::span<char> in, std::span<char> out) override
    {
        if (started_ != BZ_OK)
            return { .needsTooMuch = true };
        z_.next_in = in.data();
        z_.avail_in = static_cast<unsigned>(in.size());
        z_.next_out = out.data();
        z_.avail_out = static_cast<unsigned>(out.size());
        const int code = BZ2_bzDecompress(&z_);
        Step step { in.size() - z_.avail_in, out.size() - z_.avail_out, code == BZ_STREAM_END, code == BZ_MEM_ERROR };
        if (code != BZ_OK && code != BZ_STREAM_END)
            step.damage = code == BZ_DATA_ERROR_MAGIC ? "no bzip2 header" : "wrong data";
        return step;
    }

private:
    bz_stream z_ {};
    int started_ = BZ_OK;
};

class ExpandedStream : public ByteStream {
public:
    ExpandedStream(std::unique_ptr<ByteStream> packed, std::unique_ptr<Codec> codec, std::string name)
        : packed_(std::move(packed))
        , codec_(std::move(codec))
        , name_(std::move(name))
        , buffer_(kPiece)
    {
    }
    Result<std::size_t> read(std::span<char> into) override
    {
        const auto room = into.first(std::min(into.size(), kMostAtOnce));
        std::size_t made = 0;
        while (made == 0 && !done_ && !room.empty()) {
            FURROW_TRY(refill());
            const auto input = std::span<char>(buffer_).subspan(begin_, end_ - begin_);
            if (!inMember_ && (input.empty() || !codec_->begin(input, members_))) {
                done_ = true;
                break;
            }
            members_ += inMember_ ? 0 : 1;
            const Step step = codec_->expand(input, room);
            begin_ += step.used;
            made = step.made;
            inMember_ = !step.memberEnded;
            if (auto status = judge(step); !status.ok()) {
                done_ = true;
                return status.error();
            }
        }
        return made;
    }

private:
    Status refill()
    {
        if (begin_ < end_ || atEnd_)
            return {};
        FURROW_TRY_ASSIGN(auto n, packed_->read(buffer_));
        begin_ = 0;
        end_ = n;
        in_ += end_;
        atEnd_ = end_ == 0;
        return {};
    }
    Status judge(const Step& step)
    {
        out_ += step.made;
        if (step.needsTooMuch)
            return Error { ErrorCode::InvalidArgument,
                sentence(
                    "%1 needs more than %2 of memory to be expanded. Pack it again with a smaller window or dictionary.",
                    { name_, Bytes(kMostMemory) }) };
        if (step.damage != nullptr)
            return Error { ErrorCode::Corrupt,
                sentence("%1 has damaged compressed data after %2 of text (%3). Fetch or write it again.",
                    { name_, Bytes(out_), step.damage }) };
        if (inMember_ && atEnd_ && step.made == 0)
            return Error { ErrorCode::Corrupt,
                sentence(
                    "%1 ends in the middle of its compressed data, after %2 of text. It is cut off: fetch or write it again.",
                    { name_, Bytes(out_) }) };
        if (out_ > kExpansionGrace && out_ / kMaxExpansion > in_)
            return Error { ErrorCode::InvalidArgument,
                sentence(
                    "%1 expands more than %2 times (%3 out of %4), which looks like a decompression bomb. Unpack it yourself if it is meant so.",
                    { name_, std::to_string(kMaxExpansion), Bytes(out_), Bytes(in_) }) };
        return {};
    }

    std::unique_ptr<ByteStream> packed_;
    std::unique_ptr<Codec> codec_;
    std::string name_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::uint64_t in_ = 0;
    std::uint64_t out_ = 0;
    int members_ = 0;
    bool inMember_ = false;
    bool atEnd_ = false; ///< of the packed bytes
    bool done_ = false;
};

std::unique_ptr<Codec> codecFor(Compression compression)
{
    switch (compression) {
    case Compression::Gzip: return std::make_unique<ZlibCodec>(15 + 16);
    case Compression::Deflate: return std::make_unique<ZlibCodec>(-15);
    case Compression::Zstd: return std::make_unique<ZstdCodec>();
    case Compression::Xz: return std::make_unique<XzCodec>();
    case Compression::Bzip2: return std::make_unique<Bzip2Codec>();
    case Compression::None: break;
    }
    return nullptr;
}

} // namespace

std::unique_ptr<ByteStream> expandedStream(
    std::unique_ptr<ByteStream> packed, Compression compression, const std::string& name)
{
    auto codec = codecFor(compression);
    return codec ? std::make_unique<ExpandedStream>(std::move(packed), std::move(codec), name) : std::move(packed);
}

} // namespace furrow
