#include "core/data/block/prepared_block.h"

#include "core/base/format.h"
#include "core/base/hash.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/data/block/block_layout.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

namespace furrow {

namespace {

using namespace layout;

constexpr std::uint64_t kMaxFooterBytes = 256ull << 20;

Error corrupt(const std::string& name, const Message& what)
{
    return { ErrorCode::Corrupt, sentence("The prepared block %1 is damaged: %2.", { name, what }) };
}

std::span<std::byte> bytesOf(std::string& text) { return std::as_writable_bytes(std::span<char>(text)); }

template <typename T> void takeArray(Cursor& cursor, std::uint64_t count, std::vector<T>& out)
{
    out.resize(count);
    if (count > 0)
        std::memcpy(out.data(), cursor.data(), count * sizeof(T));
    cursor.skip(padded(count * sizeof(T)));
}

} // namespace

PreparedBlock::PreparedBlock(RandomAccessFile file)
    : file_(std::move(file))
{
}

Result<PreparedBlock> PreparedBlock::open(const std::filesystem::path& path)
{
    auto file = RandomAccessFile::open(path);
    if (!file.ok() && file.error().code == ErrorCode::InvalidArgument) // as any damage it is put aside and made again
        return corrupt(utf8Text(path.filename()), sentence("it is not a regular file"));
    if (!file.ok())
        return file.error();
    PreparedBlock block(std::move(file).value());
    block.name_ = utf8Text(path.filename());
    FURROW_TRY(block.readHeader());
    const std::uint64_t size = block.file_.sizeBytes();
    std::string trailer(kTrailerBytes, '\0');
    FURROW_TRY(block.file_.readAt(size - kTrailerBytes, bytesOf(trailer)));
    Cursor cursor(trailer.data());
    const auto offset = cursor.take<std::uint64_t>();
    const auto footerBytes = cursor.take<std::uint64_t>();
    const auto hash = cursor.take<std::uint64_t>();
    if (std::string_view(cursor.data(), 8) != kEndMagic)
        return corrupt(block.name_, sentence("its end is missing"));
    if (footerBytes > kMaxFooterBytes || offset < kHeaderBytes || offset > size || footerBytes > size - offset
        || offset + footerBytes + kTrailerBytes != size)
        return corrupt(block.name_, sentence("its chunk table is not where it should be"));
    std::string footer(footerBytes, '\0');
    FURROW_TRY(block.file_.readAt(offset, bytesOf(footer)));
    if (xxh3(footer) != hash)
        return corrupt(block.name_, sentence("the checksum of its chunk table differs"));
    block.contentBytes_ = offset;
    FURROW_TRY(block.readFooter(footer));
    block.digest_ = sha256Hex(footer);
    return block;
}

Status PreparedBlock::readHeader()
{
    if (file_.sizeBytes() < kHeaderBytes + kTrailerBytes)
        return corrupt(name_, sentence("it is too short"));
    std::string header(kHeaderBytes, '\0');
    FURROW_TRY(file_.readAt(0, bytesOf(header)));
    if (!header.starts_with(kMagic))
        return corrupt(name_, sentence("it does not begin as one"));
    Cursor cursor(header.data() + kMagic.size());
    const auto version = cursor.take<std::uint32_t>();
    if (version > kVersion)
        return Error { ErrorCode::InvalidArgument,
            sentence("The prepared block %1 has version %2; this Furrow reads up to %3. Use a newer one.",
                { name_, std::to_string(version), std::to_string(kVersion) }) };
    const auto tokenBytes = cursor.take<std::uint32_t>();
    vocabularySize_ = cursor.take<std::uint32_t>();
    const auto chunks = cursor.take<std::uint32_t>();
    const auto flags = cursor.take<std::uint32_t>();
    Cursor end(header.data() + kHeaderBytes - 8);
    if (version < 1 || flags > (version == 1 ? 0 : kFlagMasked) || (tokenBytes != 2 && tokenBytes != 4)
        || end.take<std::uint64_t>() != xxh3(std::string_view(header).substr(0, kHeaderBytes - 8)))
        return corrupt(name_, sentence("the checksum of its header differs"));
    if (const auto key = std::string_view(header).substr(kKeyOffset, kKeyBytes); key != std::string(kKeyBytes, '\0'))
        key_ = hexOf(key);
    tokenBytes_ = static_cast<int>(tokenBytes);
    version_ = version;
    isMasked_ = flags != 0;
    if (chunks > file_.sizeBytes() / entryBytes(version))
        return corrupt(name_, sentence("it is too short for its chunks"));
    chunks_.resize(chunks);
    return {};
}

Status PreparedBlock::readFooter(const std::string& footer)
{
    const std::uint64_t tableBytes = chunks_.size() * entryBytes(version_);
    if (footer.size() < tableBytes + kShaBytes)
        return corrupt(name_, sentence("its chunk table is too short"));
    Cursor cursor(footer.data());
    std::uint64_t expected = kHeaderBytes;
    for (auto& e : chunks_) {
        for (auto* value : { &e.offset, &e.sizeBytes, &e.hash, &e.samples, &e.tokens })
            *value = cursor.take<std::uint64_t>();
        auto& s = e.summary;
        for (auto* count : { &s.rows, &s.samples, &s.filtered, &s.failed, &s.heldOut, &s.duplicates, &s.repeats,
                 &s.invalidUtf8, &s.tokens })
            *count = cursor.take<std::int64_t>();
        s.textBytes = cursor.take<std::uint64_t>();
        s.digest = cursor.take<std::uint64_t>();
        s.learnt = version_ == 1 ? s.tokens : cursor.take<std::int64_t>();
        s.tooLong = version_ == 1 ? 0 : cursor.take<std::int64_t>();
        s.dropped = version_ < 3 ? 0 : cursor.take<std::int64_t>();
        if (e.offset != expected || e.sizeBytes > contentBytes_ - e.offset
            || e.sizeBytes != sectionBytes(e.samples, e.tokens, tokenBytes_, isMasked_))
            return corrupt(name_, sentence("a chunk is not where it should be"));
        expected += e.sizeBytes;
    }
    if (expected != contentBytes_)
        return corrupt(name_, sentence("its chunks do not fill it"));
    contentSha256_ = footer.substr(tableBytes, kShaBytes);
    const auto list = nlohmann::json::parse(
        footer.begin() + static_cast<std::ptrdiff_t>(tableBytes + kShaBytes), footer.end(), nullptr, false);
    if (!list.is_array())
        return corrupt(name_, sentence("its list of unreadable rows cannot be read"));
    for (const auto& item : list) {
        if (!item.is_array() || item.size() != 3 || !item[0].is_number_integer() || !item[1].is_number_integer()
            || !item[2].is_string())
            return corrupt(name_, sentence("its list of unreadable rows cannot be read"));
        issues_.push_back({ item[0].get<std::int32_t>(), item[1].get<std::int64_t>(), item[2].get<std::string>() });
    }
    std::stable_sort(issues_.begin(), issues_.end(), // of a chunk those that are found with its tokens come last
        [](const RowIssue& a, const RowIssue& b) { return std::tie(a.file, a.row) < std::tie(b.file, b.row); });
    return {};
}

std::vector<ChunkSummary> PreparedBlock::summaries() const
{
    std::vector<ChunkSummary> all;
    for (const auto& entry : chunks_)
        all.push_back(entry.summary);
    return all;
}

Result<ChunkText> PreparedBlock::readChunk(int column) const
{
    if (column < 0 || column >= chunkCount())
        return Error { ErrorCode::InvalidArgument,
            sentence("The prepared block %1 has %2 chunks, asked was for chunk %3.",
                { name_, Count(chunkCount()), std::to_string(column) }) };
    const auto& entry = chunks_[static_cast<std::size_t>(column)];
    std::string section(entry.sizeBytes, '\0');
    FURROW_TRY(file_.readAt(entry.offset, bytesOf(section)));
    if (xxh3(section) != entry.hash)
        return corrupt(name_, sentence("the checksum of a chunk differs"));
    ChunkText text;
    Cursor cursor(section.data());
    if (tokenBytes_ == 2) {
        std::vector<std::uint16_t> narrow;
        takeArray(cursor, entry.tokens, narrow);
        text.tokens.assign(narrow.begin(), narrow.end());
    } else {
        takeArray(cursor, entry.tokens, text.tokens);
    }
    if (isMasked_) {
        std::vector<std::uint8_t> bits;
        takeArray(cursor, (entry.tokens + 7) / 8, bits);
        text.learnt.resize(entry.tokens);
        for (std::size_t i = 0; i < text.learnt.size(); ++i)
            text.learnt[i] = bits[i / 8] >> (i % 8) & 1;
    }
    std::vector<std::uint32_t> lengths;
    takeArray(cursor, entry.samples, lengths);
    takeArray(cursor, entry.samples, text.fingerprints);
    takeArray(cursor, entry.samples, text.rows);
    takeArray(cursor, entry.samples, text.files);
    takeArray(cursor, entry.samples, text.flags);
    text.offsets.reserve(lengths.size() + 1);
    text.offsets.push_back(0);
    for (const auto length : lengths)
        text.offsets.push_back(text.offsets.back() + length);
    if (text.offsets.back() != entry.tokens)
        return corrupt(name_, sentence("the samples of a chunk do not add up"));
    return text;
}

Status PreparedBlock::checkName(const std::string& fileName) const
{
    if (key_.empty() || fileName.starts_with(key_))
        return {};
    return corrupt(name_, sentence("it is the block %1 under another name", { key_ }));
}

Status PreparedBlock::verify() const
{
    Sha256 sha;
    std::string piece(1 << 20, '\0');
    for (std::uint64_t at = 0; at < contentBytes_;) {
        const auto n = std::min<std::uint64_t>(piece.size(), contentBytes_ - at);
        FURROW_TRY(file_.readAt(at, bytesOf(piece).first(n)));
        if (at == 0)
            piece.replace(0, kHeaderBytes, headerWithoutKey(piece.substr(0, kHeaderBytes)));
        sha.update(piece.data(), n);
        at += n;
    }
    if (sha.hex() != contentSha256_)
        return corrupt(name_, sentence("its SHA-256 differs"));
    return {};
}

} // namespace furrow
