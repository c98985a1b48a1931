// The trailer: "FURROWTX", version (4 bytes), bytes of a piece (4), bytes of the text (8), XXH3 of the sums and of
// these three (8); little-endian.

#include "core/data/source/checked_file.h"

#include "core/base/hash.h"
#include "core/base/little_endian.h"
#include "core/base/path.h"
#include "core/base/sentence.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>

namespace furrow {

namespace {

constexpr std::string_view kMagic = "FURROWTX";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kSumBytes = sizeof(std::uint64_t);
constexpr std::size_t kFactsBytes = kMagic.size() + 2 * sizeof(std::uint32_t) + sizeof(std::uint64_t);
constexpr std::size_t kTrailerBytes = kFactsBytes + kSumBytes;

std::uint64_t piecesOf(std::uint64_t sizeBytes) { return (sizeBytes + kCheckedPieceBytes - 1) / kCheckedPieceBytes; }

Error damaged(const std::string& name)
{
    return { ErrorCode::Corrupt, sentence("%1 does not hold what was written into it (XXH3)", { name }) };
}

Result<std::string> bytesAt(const ByteSource& source, std::uint64_t offset, std::uint64_t size)
{
    std::string bytes(static_cast<std::size_t>(size), '\0');
    FURROW_TRY(source.readAt(offset, std::as_writable_bytes(std::span<char>(bytes))));
    return bytes;
}

class CheckedSource : public ByteSource {
public:
    static Result<std::shared_ptr<const CheckedSource>> open(const std::filesystem::path& path)
    {
        auto checked = std::make_shared<CheckedSource>();
        checked->name_ = utf8Text(path);
        FURROW_TRY_ASSIGN(checked->file_, openLocalSource(path));
        const std::uint64_t all = checked->file_->sizeBytes();
        if (all < kTrailerBytes)
            return damaged(checked->name_);
        FURROW_TRY_ASSIGN(const auto trailer, bytesAt(*checked->file_, all - kTrailerBytes, kTrailerBytes));
        checked->sizeBytes_ = littleEndianAt<std::uint64_t>(trailer, kFactsBytes - kSumBytes);
        const std::uint64_t pieces = checked->sizeBytes_ <= all ? piecesOf(checked->sizeBytes_) : 0;
        if (!trailer.starts_with(kMagic) || checked->sizeBytes_ + pieces * kSumBytes + kTrailerBytes != all)
            return damaged(checked->name_);
        FURROW_TRY_ASSIGN(const auto sums, bytesAt(*checked->file_, checked->sizeBytes_, pieces * kSumBytes));
        if (xxh3(sums + trailer.substr(0, kFactsBytes)) != littleEndianAt<std::uint64_t>(trailer, kFactsBytes)
            || littleEndianAt<std::uint32_t>(trailer, kMagic.size()) != kVersion
            || littleEndianAt<std::uint32_t>(trailer, kMagic.size() + sizeof(std::uint32_t)) != kCheckedPieceBytes)
            return damaged(checked->name_);
        for (std::uint64_t i = 0; i < pieces; ++i)
            checked->sums_.push_back(littleEndianAt<std::uint64_t>(sums, static_cast<std::size_t>(i * kSumBytes)));
        return std::shared_ptr<const CheckedSource>(std::move(checked));
    }

    std::uint64_t sizeBytes() const override { return sizeBytes_; }

    Status readAt(std::uint64_t offset, std::span<std::byte> into) const override
    {
        if (offset > sizeBytes_ || into.size() > sizeBytes_ - offset)
            return Error { ErrorCode::Corrupt, sentence("%1 ends too early", { name_ }) };
        const std::lock_guard lock(mutex_);
        while (!into.empty()) {
            FURROW_TRY(hold(offset / kCheckedPieceBytes));
            const auto begin = static_cast<std::size_t>(offset % kCheckedPieceBytes);
            const auto size = std::min(into.size(), held_.size() - begin);
            std::memcpy(into.data(), held_.data() + begin, size);
            into = into.subspan(size);
            offset += size;
        }
        return {};
    }

    const std::vector<std::uint64_t>& sums() const { return sums_; }

private:
    /// Rows are read one behind the other: a piece is read and checked once for all of them.
    Status hold(std::uint64_t piece) const
    {
        if (heldPiece_ == piece)
            return {};
        heldPiece_.reset();
        const std::uint64_t begin = piece * kCheckedPieceBytes;
        FURROW_TRY_ASSIGN(
            held_, bytesAt(*file_, begin, std::min<std::uint64_t>(kCheckedPieceBytes, sizeBytes_ - begin)));
        if (xxh3(held_) != sums_[static_cast<std::size_t>(piece)])
            return damaged(name_);
        heldPiece_ = piece;
        return {};
    }

    std::string name_;
    std::shared_ptr<const ByteSource> file_;
    std::uint64_t sizeBytes_ = 0;
    std::vector<std::uint64_t> sums_;
    mutable std::mutex mutex_; ///< guards what follows
    mutable std::optional<std::uint64_t> heldPiece_;
    mutable std::string held_;
};

} // namespace

std::string checkedTrailer(std::span<const std::uint64_t> sums, std::uint64_t sizeBytes)
{
    std::string bytes;
    for (const std::uint64_t sum : sums)
        appendLittleEndian(bytes, sum);
    bytes += kMagic;
    appendLittleEndian(bytes, kVersion);
    appendLittleEndian(bytes, static_cast<std::uint32_t>(kCheckedPieceBytes));
    appendLittleEndian(bytes, sizeBytes);
    appendLittleEndian(bytes, xxh3(bytes));
    return bytes;
}

Result<std::shared_ptr<const ByteSource>> openChecked(const std::filesystem::path& path)
{
    FURROW_TRY_ASSIGN(auto source, CheckedSource::open(path));
    return std::shared_ptr<const ByteSource>(std::move(source));
}

Status verifyChecked(const std::filesystem::path& path)
{
    FURROW_TRY_ASSIGN(const auto source, CheckedSource::open(path));
    std::byte one[1];
    for (std::uint64_t at = 0; at < source->sizeBytes(); at += kCheckedPieceBytes)
        FURROW_TRY(source->readAt(at, one)); // checks the whole piece
    return {};
}

Result<bool> holdsAllOf(const std::filesystem::path& path, ByteStream& stream)
{
    const auto source = CheckedSource::open(path);
    if (!source.ok())
        return source.error().code == ErrorCode::Corrupt ? Result<bool>(false) : source.error();
    std::string piece(kCheckedPieceBytes, '\0');
    std::uint64_t at = 0;
    for (const std::uint64_t sum : source.value()->sums()) {
        FURROW_TRY_ASSIGN(const auto size, readFully(stream, piece));
        at += size;
        if (xxh3(std::string_view(piece).substr(0, size)) != sum)
            return false;
    }
    FURROW_TRY_ASSIGN(const auto more, readFully(stream, piece));
    return more == 0 && at == source.value()->sizeBytes();
}

} // namespace furrow
