#include "core/data/plan/duplicate_index.h"

#include "core/base/hash.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/data/block/block_layout.h"
#include "core/data/source/data_manifest.h"

#include <algorithm>
#include <bit>

namespace furrow {

namespace {

using namespace layout;

constexpr std::string_view kIndexMagic = "FURROWDU";
constexpr std::uint32_t kIndexVersion = 1;
constexpr std::uint64_t kIndexHeader = 16; ///< magic, version, zeros
constexpr std::uint64_t kNumberBytes = 5;
constexpr std::uint64_t kPairBytes = 8 + kNumberBytes;
constexpr std::uint64_t kPairsOfPage = 4096;
constexpr std::uint64_t kFooterHead = kShaBytes + 8 + 8 + 8; ///< key, whether complete, pairs, stretches
constexpr std::uint64_t kStretchWords = 3; ///< file, first row, rows
constexpr std::int64_t kMostRows = std::int64_t { 1 } << 39; ///< what numbers have room for
constexpr std::uint64_t kMaxIndexFooter = 8ull << 30; ///< one bit a row: 2^36 rows

Error corrupt(const std::string& name, const Message& what)
{
    return { ErrorCode::Corrupt, sentence("The list of duplicates %1 is damaged: %2.", { name, what }) };
}

std::uint64_t numberAt(const char* bytes)
{
    std::uint64_t number = 0;
    std::memcpy(&number, bytes, kNumberBytes);
    return number;
}

std::uint64_t fingerprintAt(const char* bytes)
{
    std::uint64_t fingerprint = 0;
    std::memcpy(&fingerprint, bytes, 8);
    return fingerprint;
}

std::uint64_t pagesOf(std::uint64_t pairs) { return (pairs + kPairsOfPage - 1) / kPairsOfPage; }

} // namespace

std::vector<std::int64_t> firstFilesOf(const DataManifest& manifest)
{
    std::vector<std::int64_t> first;
    std::int64_t files = 0;
    for (const DataSource& source : manifest.sources) {
        first.push_back(files);
        files += std::ssize(source.files);
    }
    return first;
}

DuplicateIndex::DuplicateIndex(RandomAccessFile file, std::string name)
    : file_(std::move(file))
    , name_(std::move(name))
{
}

Result<DuplicateIndex> DuplicateIndex::open(const std::filesystem::path& path)
{
    FURROW_TRY_ASSIGN(auto file, RandomAccessFile::open(path));
    DuplicateIndex index(std::move(file), utf8Text(path));
    const std::uint64_t size = index.file_.sizeBytes();
    if (size < kIndexHeader + kTrailerBytes)
        return corrupt(index.name_, sentence("it is too short"));
    std::string ends(kIndexHeader + kTrailerBytes, '\0');
    const auto bytes = std::as_writable_bytes(std::span<char>(ends));
    FURROW_TRY(index.file_.readAt(0, bytes.first(kIndexHeader)));
    FURROW_TRY(index.file_.readAt(size - kTrailerBytes, bytes.subspan(kIndexHeader)));
    Cursor cursor(ends.data() + kIndexMagic.size());
    const auto version = cursor.take<std::uint32_t>();
    if (!ends.starts_with(kIndexMagic))
        return corrupt(index.name_, sentence("it does not begin as one"));
    if (version > kIndexVersion)
        return Error { ErrorCode::InvalidArgument,
            sentence("The list of duplicates %1 has version %2; this Furrow reads up to %3. Use a newer one.",
                { index.name_, std::to_string(version), std::to_string(kIndexVersion) }) };
    Cursor trailer(ends.data() + kIndexHeader);
    const auto offset = trailer.take<std::uint64_t>();
    const auto footerBytes = trailer.take<std::uint64_t>();
    const auto hash = trailer.take<std::uint64_t>();
    if (std::string_view(trailer.data(), 8) != kEndMagic)
        return corrupt(index.name_, sentence("its end is missing"));
    if (footerBytes < kFooterHead || footerBytes > kMaxIndexFooter || offset < kIndexHeader || offset > size
        || offset + footerBytes + kTrailerBytes != size)
        return corrupt(index.name_, sentence("its table is not where it should be"));
    std::string footer(footerBytes, '\0');
    FURROW_TRY(index.file_.readAt(offset, std::as_writable_bytes(std::span<char>(footer))));
    if (version != kIndexVersion || xxh3(footer) != hash)
        return corrupt(index.name_, sentence("the checksum of its table differs"));
    FURROW_TRY(index.readFooter(footer));
    if (offset != kIndexHeader + index.entries_ * kPairBytes)
        return corrupt(index.name_, sentence("its table is not where it should be"));
    index.digest_ = sha256Hex(footer);
    return index;
}

Status DuplicateIndex::readFooter(const std::string& footer)
{
    Cursor cursor(footer.data());
    key_.assign(cursor.data(), kShaBytes);
    cursor.skip(kShaBytes);
    complete_ = cursor.take<std::uint64_t>() != 0;
    entries_ = cursor.take<std::uint64_t>();
    const auto stretches = cursor.take<std::uint64_t>();
    const std::uint64_t words = (footer.size() - kFooterHead) / 8;
    const std::uint64_t pages = pagesOf(std::min(entries_, words * kPairsOfPage));
    if (pages > words / 2 || stretches > (words - 2 * pages) / kStretchWords)
        return corrupt(name_, sentence("its table is too short"));
    for (std::uint64_t p = 0; p < pages; ++p) {
        const auto first = cursor.take<std::uint64_t>();
        pages_.push_back({ first, cursor.take<std::uint64_t>() });
    }
    for (std::uint64_t s = 0; s < stretches; ++s) {
        RowStretch stretch { {}, 0, rows_ };
        for (auto* value : { &stretch.first.file, &stretch.first.row, &stretch.rows })
            *value = cursor.take<std::int64_t>();
        if (stretch.first.file < 0 || stretch.first.row < 0 || stretch.rows <= 0 || stretch.rows > kMostRows
            || stretch.first.row > kMostRows)
            return corrupt(name_, sentence("its rows do not add up"));
        rows_ += static_cast<std::uint64_t>(stretch.rows);
        if (rows_ > static_cast<std::uint64_t>(kMostRows))
            return corrupt(name_, sentence("its rows do not add up"));
        byNumber_.push_back(stretch);
    }
    const std::uint64_t bitWords = words - 2 * pages - kStretchWords * stretches;
    if (bitWords != (rows_ + 63) / 64)
        return corrupt(name_, sentence("its rows do not add up"));
    repeatBits_.resize(bitWords);
    if (bitWords > 0)
        std::memcpy(repeatBits_.data(), cursor.data(), 8 * bitWords);
    for (const auto word : repeatBits_)
        repeats_ += std::popcount(word);
    byPlace_ = byNumber_;
    std::sort(
        byPlace_.begin(), byPlace_.end(), [](const RowStretch& a, const RowStretch& b) { return a.first < b.first; });
    return {};
}

bool DuplicateIndex::isRepeat(RowPlace place) const
{
    const auto after = std::upper_bound(byPlace_.begin(), byPlace_.end(), place,
        [](RowPlace p, const RowStretch& stretch) { return p < stretch.first; });
    if (after == byPlace_.begin())
        return false;
    const RowStretch& stretch = *std::prev(after);
    if (place.file != stretch.first.file || place.row >= stretch.first.row + stretch.rows)
        return false;
    const std::uint64_t number = stretch.number + static_cast<std::uint64_t>(place.row - stretch.first.row);
    return (repeatBits_[number / 64] >> (number % 64) & 1) != 0;
}

/// @param number  less than rows_
RowPlace DuplicateIndex::placeOf(std::uint64_t number) const
{
    const auto after = std::upper_bound(byNumber_.begin(), byNumber_.end(), number,
        [](std::uint64_t n, const RowStretch& stretch) { return n < stretch.number; });
    const RowStretch& stretch = *std::prev(after);
    return { stretch.first.file, stretch.first.row + static_cast<std::int64_t>(number - stretch.number) };
}

Result<std::string> DuplicateIndex::readPage(std::size_t page) const
{
    const std::uint64_t first = page * kPairsOfPage;
    std::string pairs(std::min(kPairsOfPage, entries_ - first) * kPairBytes, '\0');
    FURROW_TRY(file_.readAt(kIndexHeader + first * kPairBytes, std::as_writable_bytes(std::span<char>(pairs))));
    if (xxh3(pairs) != pages_[page].hash)
        return corrupt(name_, sentence("the checksum of a page differs"));
    return pairs;
}

Result<std::optional<RowPlace>> DuplicateIndex::firstOf(std::uint64_t fingerprint) const
{
    const auto after = std::upper_bound(pages_.begin(), pages_.end(), fingerprint,
        [](std::uint64_t f, const Page& page) { return f < page.firstFingerprint; });
    if (after == pages_.begin())
        return std::optional<RowPlace> {};
    FURROW_TRY_ASSIGN(auto pairs, readPage(static_cast<std::size_t>(after - pages_.begin()) - 1));
    for (std::size_t at = 0; at < pairs.size(); at += kPairBytes) {
        if (fingerprintAt(pairs.data() + at) != fingerprint)
            continue;
        const std::uint64_t number = numberAt(pairs.data() + at + 8);
        return number < rows_
            ? Result<std::optional<RowPlace>>(std::optional(placeOf(number)))
            : Result<std::optional<RowPlace>>(corrupt(name_, sentence("it names a row that it does not have")));
    }
    return std::optional<RowPlace> {};
}

Status DuplicateIndex::forEachText(const std::function<void(std::uint64_t, RowPlace)>& onText) const
{
    for (std::size_t page = 0; page < pages_.size(); ++page) {
        FURROW_TRY_ASSIGN(const auto pairs, readPage(page));
        for (std::size_t at = 0; at < pairs.size(); at += kPairBytes) {
            const std::uint64_t number = numberAt(pairs.data() + at + 8);
            if (number >= rows_)
                return corrupt(name_, sentence("it names a row that it does not have"));
            onText(fingerprintAt(pairs.data() + at), placeOf(number));
        }
    }
    return {};
}

Status DuplicateIndex::verify() const
{
    for (std::size_t page = 0; page < pages_.size(); ++page)
        FURROW_TRY(readPage(page));
    return {};
}

DuplicateIndexWriter::DuplicateIndexWriter(Sink sink)
    : sink_(std::move(sink))
{
    page_.append(kIndexMagic);
    putValue(page_, kIndexVersion);
    putValue(page_, std::uint32_t { 0 });
}

Status DuplicateIndexWriter::add(std::uint64_t fingerprint, std::uint64_t first)
{
    if (entries_ % kPairsOfPage == 0) {
        FURROW_TRY(flush());
        pages_.push_back({ fingerprint, 0 });
    }
    putValue(page_, fingerprint);
    page_.append(reinterpret_cast<const char*>(&first), kNumberBytes);
    ++entries_;
    return {};
}

/// The page so far, or the header.
Status DuplicateIndexWriter::flush()
{
    if (!pages_.empty())
        pages_.back().hash = xxh3(page_);
    const Status written = sink_(page_.data(), page_.size());
    page_.clear();
    return written;
}

Status DuplicateIndexWriter::finish(const Rows& rows)
{
    FURROW_TRY(flush());
    std::string footer = rows.key;
    footer.resize(kShaBytes, ' ');
    putValue(footer, std::uint64_t { rows.complete ? 1u : 0u });
    putValue(footer, entries_);
    putValue(footer, static_cast<std::uint64_t>(rows.stretches.size()));
    for (const auto& page : pages_) {
        putValue(footer, page.firstFingerprint);
        putValue(footer, page.hash);
    }
    for (const auto& stretch : rows.stretches)
        for (const auto value : { stretch.first.file, stretch.first.row, stretch.rows })
            putValue(footer, value);
    footer.append(reinterpret_cast<const char*>(rows.repeatBits.data()), 8 * rows.repeatBits.size());
    std::string trailer;
    putValue(trailer, kIndexHeader + entries_ * kPairBytes);
    putValue(trailer, static_cast<std::uint64_t>(footer.size()));
    putValue(trailer, xxh3(footer));
    trailer.append(kEndMagic);
    FURROW_TRY(sink_(footer.data(), footer.size()));
    return sink_(trailer.data(), trailer.size());
}

} // namespace furrow
