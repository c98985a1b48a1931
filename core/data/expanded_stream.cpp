// Expanding .gz and .zst while reading. Both classes pull packed bytes in pieces of 256 KiB and count what came out.

#include "core/data/byte_source.h"

#include "core/base/format.h"
#include "core/base/sentence.h"

#include <cstring>
#include <vector>
#include <zlib.h>
#include <zstd.h>

namespace furrow {

namespace {

constexpr std::size_t kPiece = 256 << 10;

/// The packed side and the guard against bombs, shared by both formats.
class Packed {
public:
    Packed(std::unique_ptr<ByteStream> stream, std::string name)
        : stream_(std::move(stream))
        , name_(std::move(name))
        , buffer_(kPiece)
    {
    }
    /// Bytes not used yet; refilled when empty. Empty result: the packed file is at its end.
    Result<std::span<char>> available()
    {
        if (begin_ == end_ && !atEnd_) {
            auto n = stream_->read(buffer_);
            if (!n.ok())
                return n.error();
            begin_ = 0;
            end_ = n.value();
            in_ += end_;
            atEnd_ = end_ == 0;
        }
        return std::span<char>(buffer_).subspan(begin_, end_ - begin_);
    }
    void use(std::size_t n) { begin_ += n; }
    Status count(std::size_t expanded)
    {
        out_ += expanded;
        if (out_ > kExpansionGrace && out_ / kMaxExpansion > in_)
            return Error { ErrorCode::InvalidArgument, sentence("%1 expands more than %2 times (%3 out of %4), which looks like a decompression bomb. Unpack it yourself if it is meant so.", { name_, std::to_string(kMaxExpansion), formatBytes(out_), formatBytes(in_) }) };
        return {};
    }
    Error cut() const
    {
        return { ErrorCode::Corrupt, sentence("%1 ends in the middle of its compressed data, after %2 of text. It is cut off: fetch or write it again.", { name_, formatBytes(out_) }) };
    }
    Error damaged(const std::string& why) const
    {
        return { ErrorCode::Corrupt, sentence("%1 has damaged compressed data after %2 of text (%3). Fetch or write it again.", { name_, formatBytes(out_), why }) };
    }

private:
    std::unique_ptr<ByteStream> stream_;
    std::string name_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::uint64_t in_ = 0;
    std::uint64_t out_ = 0;
    bool atEnd_ = false;
};

class GzipStream : public ByteStream {
public:
    GzipStream(std::unique_ptr<ByteStream> stream, const std::string& name)
        : packed_(std::move(stream), name)
    {
        usable_ = inflateInit2(&z_, 15 + 16) == Z_OK;
    }
    ~GzipStream() override { inflateEnd(&z_); }
    GzipStream(const GzipStream&) = delete;
    GzipStream& operator=(const GzipStream&) = delete;

    Result<std::size_t> read(std::span<char> into) override
    {
        if (!usable_)
            return Error { ErrorCode::Internal, "zlib could not be started" };
        std::size_t produced = 0;
        while (produced == 0 && !done_) {
            auto input = packed_.available();
            if (!input.ok())
                return input.error();
            if (input.value().empty()) {
                done_ = true;
                if (inMember_)
                    return packed_.cut();
                break;
            }
            if (!inMember_ && !beginMember(input.value()))
                break;
            auto n = inflateSome(input.value(), into);
            if (!n.ok())
                return n.error();
            produced = n.value();
        }
        if (auto status = packed_.count(produced); !status.ok())
            return status.error();
        return produced;
    }

private:
    /// As gzip does, whatever follows the last member and is no member itself is left alone.
    bool beginMember(std::span<char> input)
    {
        if (members_ > 0 && static_cast<unsigned char>(input[0]) != 0x1f) {
            done_ = true;
            return false;
        }
        inflateReset(&z_);
        inMember_ = true;
        ++members_;
        return true;
    }
    Result<std::size_t> inflateSome(std::span<char> input, std::span<char> into)
    {
        z_.next_in = reinterpret_cast<Bytef*>(input.data());
        z_.avail_in = static_cast<uInt>(input.size());
        z_.next_out = reinterpret_cast<Bytef*>(into.data());
        z_.avail_out = static_cast<uInt>(std::min<std::size_t>(into.size(), 1u << 30));
        const auto room = z_.avail_out;
        const int code = inflate(&z_, Z_NO_FLUSH);
        packed_.use(input.size() - z_.avail_in);
        if (code == Z_STREAM_END)
            inMember_ = false;
        else if (code != Z_OK && code != Z_BUF_ERROR)
            return packed_.damaged(z_.msg ? z_.msg : "wrong data");
        return static_cast<std::size_t>(room - z_.avail_out);
    }

    Packed packed_;
    z_stream z_ {};
    int members_ = 0;
    bool usable_ = false;
    bool inMember_ = false;
    bool done_ = false;
};

class ZstdStream : public ByteStream {
public:
    ZstdStream(std::unique_ptr<ByteStream> stream, const std::string& name)
        : packed_(std::move(stream), name)
        , z_(ZSTD_createDStream())
    {
        ZSTD_DCtx_setParameter(z_, ZSTD_d_windowLogMax, 27); // 128 MiB: bounds the memory a frame may ask for
    }
    ~ZstdStream() override { ZSTD_freeDStream(z_); }
    ZstdStream(const ZstdStream&) = delete;
    ZstdStream& operator=(const ZstdStream&) = delete;

    Result<std::size_t> read(std::span<char> into) override
    {
        ZSTD_outBuffer out { into.data(), into.size(), 0 };
        while (out.pos == 0) {
            auto input = packed_.available();
            if (!input.ok())
                return input.error();
            if (input.value().empty() && (frameDone_ || finished_))
                break;
            ZSTD_inBuffer in { input.value().data(), input.value().size(), 0 };
            const std::size_t code = ZSTD_decompressStream(z_, &out, &in);
            if (ZSTD_isError(code) != 0)
                return packed_.damaged(ZSTD_getErrorName(code));
            packed_.use(in.pos);
            frameDone_ = code == 0;
            if (input.value().empty() && out.pos == 0) {
                finished_ = true;
                return packed_.cut();
            }
        }
        if (auto status = packed_.count(out.pos); !status.ok())
            return status.error();
        return out.pos;
    }

private:
    Packed packed_;
    ZSTD_DStream* z_;
    bool frameDone_ = true; ///< between two frames, or before the first
    bool finished_ = false;
};

} // namespace

std::unique_ptr<ByteStream> expandedStream(std::unique_ptr<ByteStream> packed, Compression compression, const std::string& name)
{
    switch (compression) {
    case Compression::Gzip:
        return std::make_unique<GzipStream>(std::move(packed), name);
    case Compression::Zstd:
        return std::make_unique<ZstdStream>(std::move(packed), name);
    case Compression::None:
        break;
    }
    return packed;
}

} // namespace furrow
