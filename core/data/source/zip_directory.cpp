#include "core/data/source/zip_directory.h"

#include "core/base/sentence.h"

#include <algorithm>
#include <optional>

namespace furrow {

namespace {

using namespace std::string_view_literals;

constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kLongestComment = 0xffff;
constexpr std::size_t kLocatorBytes = 20;
constexpr std::size_t kEnd64Bytes = 56;
constexpr std::size_t kEntryBytes = 46;
constexpr std::size_t kLocalBytes = 30;
constexpr std::uint64_t kMostDirectoryBytes = 64ull << 20;
constexpr std::uint32_t kIn64 = 0xffffffff; ///< the value stands in an extra field

/// A number of `size` bytes, little end first; the caller knows that it is there.
std::uint64_t number(std::string_view bytes, std::size_t at, std::size_t size)
{
    std::uint64_t value = 0;
    for (std::size_t i = size; i-- > 0;)
        value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
    return value;
}

struct EndRecord {
    std::string bytes; ///< up to the end of the file
    std::uint64_t offset = 0;
};
Result<std::optional<EndRecord>> recordOfTheEnd(const ByteSource& source)
{
    const std::uint64_t tail = std::min<std::uint64_t>(source.sizeBytes(), kEndBytes + kLongestComment);
    std::string end(static_cast<std::size_t>(tail), '\0');
    FURROW_TRY(source.readAt(source.sizeBytes() - tail, std::as_writable_bytes(std::span<char>(end))));
    for (std::size_t at = end.rfind("PK\5\6"sv); at != std::string::npos;
        at = at == 0 ? std::string::npos : end.rfind("PK\5\6"sv, at - 1))
        if (at + kEndBytes <= end.size() && number(end, at + 20, 2) == end.size() - at - kEndBytes)
            return std::optional(EndRecord { end.substr(at), source.sizeBytes() - tail + at });
    return std::optional<EndRecord>();
}

class Directory {
public:
    Directory(const ByteSource& source, const std::string& name)
        : source_(source)
        , name_(name)
    {
    }
    Result<std::vector<ZipEntry>> read(const std::function<bool(std::string_view)>& isWanted)
    {
        FURROW_TRY(findEnd());
        FURROW_TRY_ASSIGN(auto bytes, readAt(offset_, size_));
        std::vector<ZipEntry> entries;
        std::string_view rest = bytes;
        for (std::uint64_t i = 0; i < count_; ++i) {
            ZipEntry entry;
            FURROW_TRY(take(rest, entry));
            if (entry.name.ends_with('/') || !isWanted(entry.name))
                continue;
            FURROW_TRY(findData(entry));
            entries.push_back(std::move(entry));
        }
        FURROW_TRY(checkApart(entries));
        return entries;
    }

private:
    Result<std::string> readAt(std::uint64_t offset, std::uint64_t size) const
    {
        if (offset > source_.sizeBytes() || size > source_.sizeBytes() - offset)
            return damaged(sentence("a place after its end"));
        std::string bytes(static_cast<std::size_t>(size), '\0');
        FURROW_TRY(source_.readAt(offset, std::as_writable_bytes(std::span<char>(bytes))));
        return bytes;
    }
    Error damaged(const Message& why) const
    {
        return { ErrorCode::Corrupt,
            sentence("%1 has a damaged zip directory (%2). Fetch or write it again.", { name_, why }) };
    }
    Status findEnd()
    {
        FURROW_TRY_ASSIGN(const auto end, recordOfTheEnd(source_));
        if (end)
            return takeEnd(end->bytes, end->offset);
        return Error { ErrorCode::Corrupt,
            sentence("%1 has no zip directory at its end, after %2 bytes. It is cut off: fetch or write it again.",
                { name_, std::to_string(source_.sizeBytes()) }) };
    }
    /// @param at  of the record of the end
    Status takeEnd(std::string_view end, std::uint64_t at)
    {
        count_ = number(end, 10, 2);
        size_ = number(end, 12, 4);
        offset_ = number(end, 16, 4);
        std::uint64_t disk = number(end, 4, 2);
        if (count_ == 0xffff || size_ == kIn64 || offset_ == kIn64) {
            FURROW_TRY_ASSIGN(auto locator,
                at >= kLocatorBytes ? readAt(at - kLocatorBytes, kLocatorBytes) : Result<std::string>(std::string()));
            if (locator.starts_with("PK\6\7"sv)) {
                at = number(locator, 8, 8);
                FURROW_TRY_ASSIGN(auto end64, readAt(at, kEnd64Bytes));
                if (!end64.starts_with("PK\6\6"sv))
                    return damaged(sentence("a place that holds none (zip64)"));
                count_ = number(end64, 32, 8);
                size_ = number(end64, 40, 8);
                offset_ = number(end64, 48, 8);
                disk = number(end64, 16, 4);
            }
        }
        if (disk != 0)
            return Error { ErrorCode::InvalidArgument,
                sentence("%1 is one part of a zip archive in several. Join them first.", { name_ }) };
        if (size_ > kMostDirectoryBytes)
            return Error { ErrorCode::InvalidArgument,
                sentence("%1 has a directory of more than 64 MiB. Unpack it and name the folder.", { name_ }) };
        if (offset_ > at || size_ != at - offset_ || count_ > size_ / kEntryBytes)
            return damaged(sentence("another size than it has"));
        return {};
    }
    Status take(std::string_view& rest, ZipEntry& entry) const
    {
        if (rest.size() < kEntryBytes || !rest.starts_with("PK\1\2"sv))
            return damaged(sentence("fewer files than it counts"));
        const auto nameBytes = number(rest, 28, 2);
        const auto extraBytes = number(rest, 30, 2);
        const auto all = kEntryBytes + nameBytes + extraBytes + number(rest, 32, 2);
        if (all > rest.size())
            return damaged(sentence("fewer files than it counts"));
        constexpr std::uint64_t kUnix = 3;
        constexpr std::uint64_t kFileType = 0170000, kSymbolicLink = 0120000;
        entry.encrypted = (number(rest, 8, 2) & 1) != 0;
        entry.method = static_cast<std::uint16_t>(number(rest, 10, 2));
        entry.crc32 = static_cast<std::uint32_t>(number(rest, 16, 4));
        entry.packedBytes = number(rest, 20, 4);
        entry.sizeBytes = number(rest, 24, 4);
        entry.offset = number(rest, 42, 4); // of its local header, until findData
        entry.link = number(rest, 5, 1) == kUnix && (number(rest, 40, 2) & kFileType) == kSymbolicLink;
        entry.name = rest.substr(kEntryBytes, nameBytes);
        const auto extra = rest.substr(kEntryBytes + nameBytes, extraBytes);
        rest.remove_prefix(all);
        return take64(extra, entry);
    }
    /// The numbers that do not fit stand in an extra field, in this order.
    Status take64(std::string_view extra, ZipEntry& entry) const
    {
        std::string_view values;
        while (extra.size() >= 4) {
            const auto size = std::min<std::uint64_t>(number(extra, 2, 2), extra.size() - 4);
            if (number(extra, 0, 2) == 1)
                values = extra.substr(4, size);
            extra.remove_prefix(4 + size);
        }
        for (auto* value : { &entry.sizeBytes, &entry.packedBytes, &entry.offset }) {
            if (*value != kIn64)
                continue;
            if (values.size() < 8)
                return damaged(sentence("a size without its value (zip64)"));
            *value = number(values, 0, 8);
            values.remove_prefix(8);
        }
        return {};
    }
    Status findData(ZipEntry& entry) const
    {
        FURROW_TRY_ASSIGN(auto local, readAt(entry.offset, kLocalBytes));
        const auto nameBytes = number(local, 26, 2);
        FURROW_TRY_ASSIGN(auto name, readAt(entry.offset + kLocalBytes, nameBytes));
        if (!local.starts_with("PK\3\4"sv) || name != entry.name)
            return damaged(sentence("a file where another one stands"));
        entry.offset += kLocalBytes + nameBytes + number(local, 28, 2);
        if (entry.offset > offset_ || entry.packedBytes > offset_ - entry.offset)
            return damaged(sentence("a file that is longer than the archive"));
        return {};
    }
    /// Files that share their bytes are how a small archive claims to hold a very large one.
    Status checkApart(const std::vector<ZipEntry>& entries) const
    {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
        for (const auto& entry : entries)
            ranges.emplace_back(entry.offset, entry.offset + entry.packedBytes);
        std::sort(ranges.begin(), ranges.end());
        for (std::size_t i = 1; i < ranges.size(); ++i)
            if (ranges[i].first < ranges[i - 1].second || ranges[i].first == ranges[i - 1].first)
                return damaged(sentence("two files in one place"));
        return {};
    }

    const ByteSource& source_;
    std::string name_;
    std::uint64_t count_ = 0;
    std::uint64_t size_ = 0;
    std::uint64_t offset_ = 0; ///< of the directory
};

} // namespace

Result<std::vector<ZipEntry>> readZipDirectory(
    const ByteSource& source, const std::string& name, const std::function<bool(std::string_view)>& isWanted)
{
    return Directory(source, name).read(isWanted);
}

Result<std::uint64_t> bytesBeforeZip(const ByteSource& source)
{
    FURROW_TRY_ASSIGN(const auto end, recordOfTheEnd(source));
    const std::uint64_t size = end ? number(end->bytes, 12, 4) : 0;
    const std::uint64_t offset = end ? number(end->bytes, 16, 4) : 0;
    if (!end || size < kEntryBytes || size > end->offset || offset > end->offset - size)
        return std::uint64_t { 0 };
    const std::uint64_t directory = end->offset - size;
    if (directory > offset) // its places count from where the archive begins
        return directory - offset;
    std::string first(kEntryBytes, '\0');
    FURROW_TRY(source.readAt(directory, std::as_writable_bytes(std::span<char>(first))));
    return first.starts_with("PK\1\2"sv) ? number(first, 42, 4) : 0;
}

} // namespace furrow
