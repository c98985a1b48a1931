#include "core/data/source/tar_reader.h"

#include "core/base/sentence.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace furrow {

namespace {

constexpr std::size_t kBlock = 512;
constexpr std::uint64_t kMostNameBytes = 64 << 10;
constexpr std::uint64_t kMostPaxBytes = 1 << 20;
constexpr std::uint64_t kLargest = 1ull << 60; ///< what no file has

std::uint64_t paddingOf(std::uint64_t size) { return (kBlock - size % kBlock) % kBlock; }

std::string field(std::string_view block, std::size_t offset, std::size_t size)
{
    const auto text = block.substr(offset, size);
    return std::string(text.substr(0, text.find('\0')));
}

/// Octal digits, or (GNU) a number in base 256 whose first bit is set. Nothing: it is neither.
std::optional<std::uint64_t> number(std::string_view digits)
{
    std::uint64_t value = 0;
    if (!digits.empty() && (static_cast<unsigned char>(digits[0]) & 0x80) != 0) {
        for (std::size_t i = 0; i < digits.size(); ++i) {
            const auto byte = static_cast<unsigned char>(digits[i]);
            if (value >= kLargest >> 8)
                return std::nullopt;
            value = value * 256 + (i == 0 ? byte & 0x7f : byte);
        }
        return value;
    }
    digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
    const auto end = std::min(digits.find_first_of(std::string_view(" \0", 2)), digits.size());
    const auto parsed = std::from_chars(digits.data(), digits.data() + end, value, 8);
    return end == 0 || (parsed.ec == std::errc() && parsed.ptr == digits.data() + end) ? std::optional(value)
                                                                                       : std::nullopt;
}

TarEntry::Kind kindOf(char type, const std::string& name)
{
    switch (type) {
    case '0':
    case '\0':
    case '7': return name.ends_with('/') ? TarEntry::Kind::Folder : TarEntry::Kind::File;
    case '1':
    case '2': return TarEntry::Kind::Link;
    case '5': return TarEntry::Kind::Folder;
    case 'S': return TarEntry::Kind::Sparse;
    default: return TarEntry::Kind::Other;
    }
}

} // namespace

struct TarReader::Extra {
    std::optional<std::string> name;
    std::optional<std::uint64_t> sizeBytes;
    bool sparse = false;
};

bool isTarHeader(std::string_view block)
{
    constexpr std::size_t kSum = 148;
    constexpr std::size_t kSumDigits = 8;
    if (block.size() < kBlock || block[0] == '\0')
        return false;
    std::uint64_t sum = kSumDigits * ' ';
    for (std::size_t i = 0; i < kBlock; ++i)
        sum += i >= kSum && i < kSum + kSumDigits ? 0 : static_cast<unsigned char>(block[i]);
    return number(block.substr(kSum, kSumDigits)) == sum;
}

TarReader::TarReader(std::unique_ptr<ByteStream> stream, std::string name, std::uint64_t begin)
    : stream_(std::move(stream))
    , name_(std::move(name))
    , at_(begin)
    , begin_(begin)
{
}

Result<std::optional<TarEntry>> TarReader::next()
{
    FURROW_TRY(stepOver(left_ + padding_));
    left_ = padding_ = 0;
    Extra extra;
    begin_ = atEnd_ ? begin_ : at_;
    while (!atEnd_) {
        char block[kBlock];
        FURROW_TRY_ASSIGN(auto more, readHeader(block));
        if (!more)
            break;
        const std::string_view header(block, kBlock);
        constexpr std::size_t kType = 156;
        const bool isUstar = header.substr(257, 6) == std::string_view("ustar\0", 6);
        const std::string prefix = isUstar ? field(header, 345, 155) : "";
        const auto size = number(header.substr(124, 12));
        if (!size || *size > kLargest)
            return damaged(sentence("a size that is not a number"));
        TarEntry entry { TarEntry::Kind::Other, (prefix.empty() ? "" : prefix + "/") + field(header, 0, 100), begin_,
            at_, *size };
        const char type = header[kType];
        if (type == 'L' || type == 'K' || type == 'x'
            || type == 'g') { // of the entry that follows; 'g' of all that follow
            std::string name;
            FURROW_TRY(type == 'x' ? readPax(entry, extra)
                    : type == 'g'  ? stepOver(*size + paddingOf(*size))
                                   : readLongName(entry, name));
            if (type == 'L')
                extra.name = name;
            continue;
        }
        entry.name = extra.name.value_or(entry.name);
        entry.sizeBytes = extra.sizeBytes.value_or(entry.sizeBytes);
        entry.kind = extra.sparse ? TarEntry::Kind::Sparse : kindOf(type, entry.name);
        if (type == 'S')
            FURROW_TRY(stepOverHoles(header));
        const bool hasData = entry.kind != TarEntry::Kind::Link && entry.kind != TarEntry::Kind::Folder;
        left_ = hasData ? entry.sizeBytes : 0;
        padding_ = paddingOf(left_);
        return std::optional(std::move(entry));
    }
    return std::optional<TarEntry> {};
}

Result<std::size_t> TarReader::read(std::span<char> into)
{
    if (left_ == 0 || into.empty())
        return std::size_t { 0 };
    FURROW_TRY_ASSIGN(
        auto n, stream_->read(into.first(static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), left_)))));
    if (n == 0)
        return cut();
    left_ -= n;
    at_ += n;
    return n;
}

/// false: the mark of the end stands there.
Result<bool> TarReader::readHeader(std::span<char> header)
{
    FURROW_TRY(fill(header));
    const std::string_view block(header.data(), header.size());
    atEnd_ = block.find_first_not_of('\0') == std::string_view::npos;
    if (atEnd_)
        FURROW_TRY(checkNothingFollows());
    if (!atEnd_ && !isTarHeader(block))
        return damaged(sentence("no header where one should be"));
    return !atEnd_;
}

/// Archives that were joined: who stops at the first mark loses the others without a word. Zeros fill the last record
/// of an archive, of 10 KiB as a rule.
Status TarReader::checkNothingFollows()
{
    constexpr std::size_t kMostFilled = 64 << 10;
    std::string rest(kMostFilled, '\0');
    FURROW_TRY_ASSIGN(auto size, readFully(*stream_, rest));
    if (rest.find_first_not_of('\0') >= size)
        return {};
    return damaged(sentence("more follows the mark of its end, as in archives that were joined"));
}

Status TarReader::fill(std::span<char> into)
{
    while (!into.empty()) {
        FURROW_TRY_ASSIGN(auto n, stream_->read(into));
        if (n == 0)
            return cut();
        at_ += n;
        into = into.subspan(n);
    }
    return {};
}

Status TarReader::stepOver(std::uint64_t size)
{
    FURROW_TRY_ASSIGN(auto stepped, stream_->skip(size));
    at_ += stepped;
    return stepped == size ? Status {} : Status(cut());
}

/// Of a sparse file of old GNU: as many blocks as its list of stretches needs stand behind the header.
Status TarReader::stepOverHoles(std::string_view header)
{
    constexpr std::size_t kGoesOn = 482; ///< of the header: not 0 where such a block follows
    constexpr std::size_t kGoesOnHere = 504; ///< of such a block
    std::string block(kBlock, '\0');
    for (bool more = header[kGoesOn] != '\0'; more; more = block[kGoesOnHere] != '\0')
        FURROW_TRY(fill(block));
    return {};
}

Status TarReader::readLongName(const TarEntry& entry, std::string& name)
{
    if (entry.sizeBytes > kMostNameBytes)
        return damaged(sentence("a name of more than 64 KiB"));
    name.resize(static_cast<std::size_t>(entry.sizeBytes + paddingOf(entry.sizeBytes)));
    FURROW_TRY(fill(name));
    name.resize(static_cast<std::size_t>(entry.sizeBytes));
    name.resize(std::min(name.find('\0'), name.size()));
    return {};
}

/// Records "<length> <key>=<value>\n", the length being that of the whole record.
Status TarReader::readPax(const TarEntry& entry, Extra& extra)
{
    if (entry.sizeBytes > kMostPaxBytes)
        return damaged(sentence("an extended header of more than 1 MiB"));
    std::string bytes(static_cast<std::size_t>(entry.sizeBytes + paddingOf(entry.sizeBytes)), '\0');
    FURROW_TRY(fill(bytes));
    std::string_view rest(bytes.data(), static_cast<std::size_t>(entry.sizeBytes));
    bool namedByHoles = false;
    while (!rest.empty() && rest[0] != '\0') {
        std::size_t length = 0;
        const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), length);
        const auto digits = static_cast<std::size_t>(parsed.ptr - rest.data());
        if (parsed.ec != std::errc() || length < digits + 3 || length > rest.size() || rest[digits] != ' '
            || rest[length - 1] != '\n')
            return damaged(sentence("an extended header that cannot be read"));
        const auto record = rest.substr(digits + 1, length - digits - 2);
        const auto equals = record.find('=');
        const auto key = record.substr(0, equals);
        const auto value = equals == std::string_view::npos ? std::string_view() : record.substr(equals + 1);
        if (key == "GNU.sparse.name") { // the other one was made up for those who know no holes
            extra.name = value;
            namedByHoles = true;
        } else if (key == "path") {
            if (!namedByHoles)
                extra.name = value;
        } else if (key == "size") {
            std::uint64_t size = 0;
            const auto number = std::from_chars(value.data(), value.data() + value.size(), size);
            if (number.ec != std::errc() || number.ptr != value.data() + value.size() || size > kLargest)
                return damaged(sentence("a size that is not a number"));
            extra.sizeBytes = size;
        }
        extra.sparse = extra.sparse || key.starts_with("GNU.sparse.");
        rest.remove_prefix(length);
    }
    return {};
}

Error TarReader::cut() const
{
    return { ErrorCode::Corrupt,
        sentence("%1 ends at byte %2, in the middle of an archive. It is cut off: fetch or write it again.",
            { name_, std::to_string(at_) }) };
}

Error TarReader::damaged(const Message& why) const
{
    return { ErrorCode::Corrupt,
        sentence("%1 is damaged before byte %2 (%3). Fetch or write it again.", { name_, std::to_string(at_), why }) };
}

} // namespace furrow
