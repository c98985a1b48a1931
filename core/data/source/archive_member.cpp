#include "core/data/source/archive_member.h"

#include "core/base/sentence.h"

#include <algorithm>
#include <zlib.h>

namespace furrow {

namespace {

/// Some bytes out of the middle of a stream.
class Stretch : public ByteStream {
public:
    Stretch(std::unique_ptr<ByteStream> stream, std::uint64_t offset, std::uint64_t sizeBytes, std::string name)
        : stream_(std::move(stream))
        , before_(offset)
        , left_(sizeBytes)
        , name_(std::move(name))
    {
    }
    Result<std::size_t> read(std::span<char> into) override
    {
        if (before_ > 0) {
            FURROW_TRY_ASSIGN(auto skipped, stream_->skip(before_));
            if (skipped < before_)
                return cut();
            before_ = 0;
        }
        if (left_ == 0)
            return std::size_t { 0 };
        auto n = stream_->read(into.first(static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), left_))));
        if (n.ok() && n.value() == 0 && !into.empty())
            return cut();
        left_ -= n.ok() ? n.value() : 0;
        return n;
    }

private:
    Error cut() const
    {
        return { ErrorCode::Corrupt,
            sentence(
                "%1: the archive ends %2 bytes before the end of this file. It is cut off: fetch or write it again.",
                { name_, std::to_string(left_) }) };
    }

    std::unique_ptr<ByteStream> stream_;
    std::uint64_t before_; ///< to be stepped over
    std::uint64_t left_;
    std::string name_;
};

/// Holds what comes out against the size and checksum that the archive promises.
class CheckedStream : public ByteStream {
public:
    CheckedStream(std::unique_ptr<ByteStream> stream, std::uint64_t sizeBytes, std::uint32_t crc32, std::string name)
        : stream_(std::move(stream))
        , left_(sizeBytes)
        , crc32_(crc32)
        , name_(std::move(name))
    {
    }
    Result<std::size_t> read(std::span<char> into) override
    {
        auto n = stream_->read(into);
        if (!n.ok() || into.empty())
            return n;
        if (n.value() > left_ || (n.value() == 0 && left_ > 0))
            return Error { ErrorCode::Corrupt,
                sentence("%1 has another size than its archive says. The archive is damaged: fetch or write it again.",
                    { name_ }) };
        left_ -= n.value();
        found_ = crc32_z(found_, reinterpret_cast<const Bytef*>(into.data()), n.value());
        if (n.value() == 0 && found_ != crc32_)
            return Error { ErrorCode::Corrupt,
                sentence(
                    "%1 has another checksum than its archive says. The archive is damaged: fetch or write it again.",
                    { name_ }) };
        return n;
    }

private:
    std::unique_ptr<ByteStream> stream_;
    std::uint64_t left_;
    uLong crc32_;
    uLong found_ = 0;
    std::string name_;
};

} // namespace

std::unique_ptr<ByteStream> memberStream(
    const std::shared_ptr<const ByteSource>& archive, const ArchiveMember& member, const std::string& name)
{
    return memberStream(expandedStream(streamFrom(archive, 0), member.archivePacking, member.archive), 0, member, name);
}

std::unique_ptr<ByteStream> memberStream(
    std::unique_ptr<ByteStream> expanded, std::uint64_t at, const ArchiveMember& member, const std::string& name)
{
    std::unique_ptr<ByteStream> packed
        = std::make_unique<Stretch>(std::move(expanded), member.offset - at, member.packedBytes, name);
    auto plain = expandedStream(std::move(packed), member.packing, name);
    return member.crc32 ? std::make_unique<CheckedStream>(std::move(plain), member.sizeBytes, *member.crc32, name)
                        : std::move(plain);
}

} // namespace furrow
