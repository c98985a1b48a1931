#include "core/data/source/data_format.h"

#include "core/base/lower_case.h"
#include "core/base/sentence.h"
#include "core/base/utf8.h"
#include "core/config/csv_character.h"
#include "core/data/source/arrow_rows.h"
#include "core/data/source/column_path.h"
#include "core/data/source/distant_source.h"
#include "core/data/source/json_text.h"
#include "core/data/source/row_rules.h"
#include "core/data/source/text_encoding.h"
#include "core/data/source/content_claim.h"

#include <algorithm>
#include <vector>

namespace furrow {

namespace {

constexpr std::size_t kHeadBytes = 64 << 10;

Result<std::string> readHead(ByteStream& stream, std::size_t bytes = kHeadBytes)
{
    std::string head(bytes, '\0');
    FURROW_TRY_ASSIGN(auto filled, readFully(stream, head));
    head.resize(filled);
    return head;
}

std::string_view firstLine(std::string_view head) { return head.substr(0, head.find('\n')); }

/// The first three complete lines are JSON objects (one is enough when there is only one).
/// @param isCut  the file goes on behind the head
bool looksLikeJsonLines(std::string_view head, bool isCut)
{
    int lines = 0;
    while (lines < 3 && !head.empty()) {
        const auto line = firstLine(head);
        const bool complete = line.size() < head.size();
        if (!complete && lines > 0)
            break;
        if (!complete && isCut)
            return line.starts_with("{\""); // one line longer than the head
        if (line.empty() || !isJsonObject(line))
            return false;
        ++lines;
        head.remove_prefix(std::min(head.size(), line.size() + 1));
    }
    return lines > 0;
}

bool headerHas(std::string_view line, char delimiter, const std::string& column)
{
    if (!line.empty() && line.back() == '\r')
        line.remove_suffix(1);
    while (!line.empty()) {
        auto field = line.substr(0, line.find(delimiter));
        line.remove_prefix(std::min(line.size(), field.size() + 1));
        if (field.size() >= 2 && field.front() == '"' && field.back() == '"')
            field = field.substr(1, field.size() - 2);
        if (field == column)
            return true;
    }
    return false;
}

/// More than one line, and the first is an object: lines of JSON, whatever the name says.
bool hasSeveralObjects(std::string_view head)
{
    const auto line = firstLine(head);
    return line.size() < head.size() && isJsonObject(line)
        && head.find_first_not_of(" \t\r\n", line.size()) != std::string_view::npos;
}

/// Of a column such as "data[].text": "data"; "" for one without a list.
std::string listOf(const std::string& textColumn)
{
    const auto path = ColumnPath::parse(textColumn);
    const auto each = std::find_if(
        path.moves().begin(), path.moves().end(), [](const ColumnPath::Move& move) { return move.each; });
    return each == path.moves().end() ? "" : ColumnPath({ path.moves().begin(), each }).text();
}

/// @param list  gets that of FileFormat
Result<TextFormat> textFormat(
    std::string_view head, bool isCut, const std::string& name, const std::string& textColumn, std::string& list)
{
    const std::string extension = dataExtension(name);
    const auto first = head.find_first_not_of(" \t\r\n");
    if (extension == "json" && first != std::string_view::npos && head[first] == '[')
        return TextFormat::JsonList;
    if (extension == "json" && first != std::string_view::npos && head[first] == '{' && !hasSeveralObjects(head)) {
        list = listOf(textColumn);
        if (!list.empty())
            return TextFormat::JsonList;
    }
    if (extension == "csv")
        return TextFormat::Csv;
    if (extension == "tsv")
        return TextFormat::Tsv;
    if (extension == "jsonl" || extension == "ndjson")
        return TextFormat::JsonLines;
    if (extension != "txt" && looksLikeJsonLines(head, isCut))
        return TextFormat::JsonLines;
    if (extension == "json" && first != std::string_view::npos && hasSeveralObjects(head))
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "%1 holds several JSON documents that go over lines. Write one object per line (jsonl), or one list of them.",
                { name }) };
    if (extension == "json" && first != std::string_view::npos)
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "%1 is one JSON document. Name the list of its rows and their text with text_column, such as data[].text, or write one object per line (jsonl).",
                { name }) };
    if (!textColumn.empty() && extension != "txt" && headerHas(firstLine(head), ',', textColumn))
        return TextFormat::Csv;
    if (!textColumn.empty() && extension != "txt" && headerHas(firstLine(head), '\t', textColumn))
        return TextFormat::Tsv;
    return TextFormat::Text;
}

/// A name that ends in .parquet claims it; without that both ends of the content say so.
Result<bool> isParquet(
    const ByteSource& source, const std::string& name, const std::string& extension, std::string_view start)
{
    const bool claimed = extension == "parquet";
    if (source.sizeBytes() < 4 || start.starts_with("PAR1") == claimed)
        return claimed && source.sizeBytes() > 0;
    std::string head(std::min<std::uint64_t>(source.sizeBytes(), 1024), '\0');
    std::string tail(4, '\0');
    for (const auto& [offset, into] :
        { std::pair<std::uint64_t, std::string*>(0, &head), std::pair(source.sizeBytes() - 4, &tail) })
        FURROW_TRY(source.readAt(offset, std::as_writable_bytes(std::span<char>(*into))));
    return claimed ? Result<bool>(notParquet(name, head, tail)) : Result<bool>(tail == "PAR1");
}

struct PackedEnding {
    std::string_view ending;
    Compression compression;
};
constexpr PackedEnding kPackedEndings[]
    = { { ".gz", Compression::Gzip }, { ".gzip", Compression::Gzip }, { ".zst", Compression::Zstd },
          { ".zstd", Compression::Zstd }, { ".xz", Compression::Xz }, { ".bz2", Compression::Bzip2 } };

Error wrongName(const std::string& name, const std::string& claimed)
{
    return { ErrorCode::Corrupt,
        sentence(
            "%1 is called %2 and does not begin as such a file: its first bytes are damaged, or it has a wrong name. Fetch or write it again, or give it its right name.",
            { name, claimed }) };
}

/// By content; a name that claims another one is an error.
Result<Compression> findCompression(const std::string& name, std::string_view start)
{
    const auto compression = compressionOf(start);
    const auto ending = packedEnding(name);
    for (const auto& known : kPackedEndings)
        if (known.ending == lowerCase(ending) && known.compression != compression && !start.empty())
            return wrongName(name, toString(known.compression));
    return compression;
}

/// A name that ends in .warc or .wet claims it.
Result<bool> isWarc(const std::string& name, const std::string& extension, std::string_view head)
{
    const auto line = firstLine(head);
    const bool isOne = line.starts_with("WARC/") && line.find(' ') == std::string_view::npos; // else a text about it
    const bool isClaimed = extension == "warc" || extension == "wet";
    return !isOne && isClaimed && !head.empty() ? Result<bool>(wrongName(name, "WARC")) : isOne;
}

/// A file or a stream; a name that ends in .arrow or .feather claims it. Feather 1 is another format.
Result<bool> isArrow(const std::string& name, const std::string& extension, std::string_view head)
{
    constexpr std::string_view kStream = "\xff\xff\xff\xff";
    const bool isOne = (head.starts_with(kArrowFileMagic) && looksBinary(head)) || head.starts_with(kStream);
    const bool isClaimed
        = extension == "arrow" || extension == "arrows" || extension == "feather" || extension == "ipc";
    if (!isOne && head.starts_with("FEA1"))
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "%1 is Feather of version 1, which Furrow cannot read. Write it again with version 2, or as Parquet.",
                { name }) };
    return !isOne && isClaimed && !head.empty() ? Result<bool>(wrongName(name, "Arrow")) : isOne;
}

/// Looks at the beginning, and where that costs little at the middle and the end too.
Result<bool> isBinary(const ByteSource& source, const std::string& name, Compression compression, std::string_view head)
{
    if (looksBinary(head))
        return true;
    const bool isCheap = compression == Compression::None && !isDistantPath(name);
    if (!isCheap || source.sizeBytes() < 3 * kHeadBytes)
        return false;
    std::string stretch(kHeadBytes, '\0');
    for (const std::uint64_t offset : { source.sizeBytes() / 2, source.sizeBytes() - kHeadBytes }) {
        FURROW_TRY(source.readAt(offset, std::as_writable_bytes(std::span<char>(stretch))));
        if (looksBinary(stretch))
            return true;
    }
    return false;
}

} // namespace

std::string toString(TextFormat format)
{
    static const char* const kNames[]
        = { "text", "csv", "tsv", "jsonl", "parquet", "json", "warc", "arrow", "webdataset" };
    return kNames[static_cast<int>(format)];
}

std::string dataExtension(std::string_view name)
{
    std::string lower
        = lowerCase(name.substr(name.find_last_of("/\\") == std::string_view::npos ? 0 : name.find_last_of("/\\") + 1));
    lower.resize(lower.size() - packedEnding(lower).size());
    const auto dot = lower.rfind('.');
    return dot == std::string::npos ? "" : lower.substr(dot + 1);
}

Compression compressionOf(std::string_view start)
{
    using namespace std::string_view_literals;
    const bool isSkippedFrame = start.size() >= 4 && start.substr(1, 3) == "\x2a\x4d\x18"sv
        && (start[0] & 0xf0) == 0x50; // of zstd, before the first frame
    if (start.starts_with("\x1f\x8b"sv))
        return Compression::Gzip;
    if (start.starts_with("\x28\xb5\x2f\xfd"sv) || isSkippedFrame)
        return Compression::Zstd;
    if (start.starts_with("\xfd"
                          "7zXZ\0"sv))
        return Compression::Xz;
    const auto block = start.substr(std::min<std::size_t>(
        start.size(), 4)); // the first one, or the end of an empty file; a text may begin with BZh
    if (start.starts_with("BZh"sv)
        && (block.starts_with("\x31\x41\x59\x26\x53\x59"sv) || block.starts_with("\x17\x72\x45\x38\x50\x90"sv)))
        return Compression::Bzip2;
    return Compression::None;
}

std::string_view packedEnding(std::string_view name)
{
    const std::string lower = lowerCase(name.substr(name.size() - std::min<std::size_t>(name.size(), 8)));
    for (const auto& known : kPackedEndings)
        if (lower.ends_with(known.ending))
            return name.substr(name.size() - known.ending.size());
    return {};
}

bool hasDataExtension(std::string_view name)
{
    static const char* const kKnown[] = { "txt", "text", "csv", "tsv", "jsonl", "ndjson", "json", "parquet", "warc",
        "wet", "arrow", "arrows", "feather", "ipc" };
    const std::string extension = dataExtension(name);
    return std::any_of(std::begin(kKnown), std::end(kKnown), [&](const char* known) { return extension == known; });
}

bool isHiddenPath(std::string_view name) { return name.starts_with('.') || name.find("/.") != std::string_view::npos; }

std::string rowsKey(const FileFormat& format)
{
    std::string key = toString(format.format);
    if (format.rules < 2)
        return key;
    key += "/" + std::to_string(format.rules) + "/" + format.encoding;
    if (format.isCsv())
        key += { '/', format.csv.delimiter, format.csv.quote, format.csv.escape, format.csv.header ? 'h' : '-' };
    return key + (format.list.empty() ? "" : "/" + format.list);
}

std::vector<Message> readingOf(const FileFormat& format, const std::string& name)
{
    std::vector<Message> sentences;
    if (format.isCsv()) {
        const std::vector<Argument> values { name, csvCharacterInWords(format.csv.delimiter),
            csvCharacterInWords(format.csv.quote), csvCharacterInWords(format.csv.escape) };
        sentences.push_back(format.csv.header
                ? sentence("%1 is csv: delimiter %2, quote %3, escape %4; its first record names the columns.", values)
                : sentence("%1 is csv: delimiter %2, quote %3, escape %4; its columns have no names.", values));
    }
    if (format.format == TextFormat::Warc)
        sentences.push_back(sentence(
            "%1 is WARC: its plain texts are read (conversions, resources, and responses with status 200); HTML and all else is left out.",
            { name }));
    if (format.format == TextFormat::WebDataset)
        sentences.push_back(sentence(
            "%1 is a WebDataset: its files of one name are one row, and their endings are its columns.", { name }));
    if (!format.encoding.empty())
        sentences.push_back(format.otherEncoding.empty()
                ? sentence("%1 is %2 text and is converted to UTF-8.", { name, encodingInWords(format.encoding) })
                : sentence(
                      "%1 is taken as %2 text and is converted to UTF-8. It could as well be %3: name the right one with --encoding.",
                      { name, format.encoding, format.otherEncoding }));
    else if (format.damagedUtf8 && format.format != TextFormat::Text)
        sentences.push_back(sentence(
            "%1 has bytes that are not UTF-8. They are read as U+FFFD; set encoding if the text has another one.",
            { name }));
    else if (format.damagedUtf8)
        sentences.push_back(sentence(
            "%1 has bytes that are not UTF-8. They stay as they are; set encoding if the text has another one.",
            { name }));
    if (format.endsLinesAtCarriageReturns)
        sentences.push_back(sentence(
            "%1 has carriage returns and no line feed. A line ends at a line feed, so its lines are one; convert them (tr '\\r' '\\n' < FILE) if they are meant.",
            { name }));
    return sentences;
}

namespace {

/// What stands in the rest of a plain file at even distances.
Status addStretches(const ByteSource& source, std::uint64_t headBytes, std::vector<std::string>& samples)
{
    constexpr std::size_t kStretchBytes = 16 << 10;
    constexpr std::uint64_t kStretches = 15;
    if (source.sizeBytes() <= headBytes + kStretchBytes)
        return {};
    const std::uint64_t step = (source.sizeBytes() - headBytes - kStretchBytes) / kStretches;
    for (std::uint64_t i = 1; i <= kStretches; ++i) {
        std::string stretch(kStretchBytes, '\0');
        FURROW_TRY(source.readAt(headBytes + i * step, std::as_writable_bytes(std::span<char>(stretch))));
        samples.push_back(std::move(stretch));
    }
    return {};
}

/// What is no ASCII behind the head of a compressed file: nobody can step to the middle of it, so the beginning of it
/// is expanded. Damage is not looked for: who reads the rows names it.
void addExpanded(ByteStream& stream, std::uint64_t headBytes, std::vector<std::string>& samples)
{
    constexpr std::size_t kPieceBytes = 64 << 10;
    constexpr std::uint64_t kMostBytes = 16 << 20;
    const auto skipped = stream.skip(headBytes);
    for (std::uint64_t at = headBytes; skipped.ok() && at < kMostBytes; at += kPieceBytes) {
        std::string piece(kPieceBytes, '\0');
        const auto size = readFully(stream, piece);
        if (!size.ok())
            return;
        piece.resize(size.value());
        const bool isAscii = std::all_of(piece.begin(), piece.end(), [](char c) { return (c & 0x80) == 0; });
        if (!isAscii)
            samples.push_back(std::move(piece));
        if (size.value() < kPieceBytes)
            return;
    }
}

/// The head, and of a local file more.
Result<std::vector<std::string>> encodingSamples(const std::shared_ptr<const ByteSource>& source,
    const std::string& name, const FileFormat& format, const std::string& head)
{
    std::vector<std::string> samples { head };
    if (isDistantPath(name))
        return samples;
    if (format.compression == Compression::None)
        FURROW_TRY(addStretches(*source, head.size(), samples));
    else
        addExpanded(*expandedStream(streamFrom(source, 0), format.compression, name), head.size(), samples);
    return samples;
}

Status findEncoding(const std::shared_ptr<const ByteSource>& source, const std::string& name, const std::string& head,
    const std::string& setting, FileFormat& format)
{
    if (setting != "auto") {
        auto named = encodingNamed(setting);
        if (named.ok())
            format.encoding = named.value();
        return named.ok() ? Status {} : Status(named.error());
    }
    FURROW_TRY_ASSIGN(auto samples, encodingSamples(source, name, format, head));
    const auto guess = guessEncoding(samples);
    format.encoding = guess.encoding;
    format.damagedUtf8 = guess.damaged;
    if (!guess.other.empty())
        format.otherEncoding = sentence(
            "%1, which reads %2 where %3 reads %4", { guess.other, guess.otherWord, guess.encoding, guess.word });
    return {};
}

/// The whole file as UTF-8, from its first byte.
std::unique_ptr<ByteStream> textOf(
    const std::shared_ptr<const ByteSource>& source, const std::string& name, const FileFormat& format)
{
    auto stream = expandedStream(streamFrom(source, 0), format.compression, name);
    return format.encoding.empty() ? std::move(stream) : decodedStream(std::move(stream), format.encoding);
}

/// Quotes inside of fields may be rare: of a file that is here more is looked at for how they are written.
Status findLaterEscape(const std::shared_ptr<const ByteSource>& source, const std::string& name,
    const RunConfig& config, FileFormat& format)
{
    constexpr std::size_t kBytes = 4 << 20;
    if (isDistantPath(name))
        return {};
    FURROW_TRY_ASSIGN(const auto more, readHead(*textOf(source, name, format), kBytes));
    const auto begin = std::min<std::size_t>(more.size(), static_cast<std::size_t>(format.skipBytes));
    if (const char escape = laterCsvEscape(std::string_view(more).substr(begin), format.csv, config); escape != '\0')
        format.csv.escape = escape;
    return {};
}

} // namespace

Result<FileFormat> detectFormat(
    const std::shared_ptr<const ByteSource>& source, const std::string& name, const RunConfig& config)
{
    FileFormat format;
    char magic[16] = {};
    const auto size = std::min<std::uint64_t>(source->sizeBytes(), sizeof magic);
    FURROW_TRY(source->readAt(0, std::as_writable_bytes(std::span<char>(magic, size))));
    const std::string_view start(magic, size);
    const std::string extension = dataExtension(name);
    FURROW_TRY_ASSIGN(auto parquet, isParquet(*source, name, extension, start));
    if (parquet) {
        format.format = TextFormat::Parquet;
        return format;
    }
    FURROW_TRY_ASSIGN(auto compression, findCompression(name, start));
    format.compression = compression;
    auto raw = readHead(*expandedStream(streamFrom(source, 0), format.compression, name));
    if (!raw.ok())
        return raw.error();
    if (auto warc = isWarc(name, extension, raw.value()); !warc.ok() || warc.value()) {
        format.format = TextFormat::Warc;
        format.rules = kRulesOfBytes;
        return warc.ok() ? Result<FileFormat>(format) : warc.error();
    }
    if (auto arrow = isArrow(name, extension, raw.value()); !arrow.ok() || arrow.value()) {
        format.format = TextFormat::Arrow;
        format.skipBytes
            = raw.value().starts_with(kArrowFileMagic) ? static_cast<std::int32_t>(kArrowFileMagic.size()) : 0;
        return arrow.ok() ? Result<FileFormat>(format) : arrow.error();
    }
    if (const auto content = knownContent(raw.value()))
        return notText(name, *content);
    FURROW_TRY(findEncoding(source, name, raw.value(), config.encoding, format));
    FURROW_TRY_ASSIGN(auto plain,
        format.encoding.empty() ? raw : readHead(*textOf(source, name, format))); // as much text as of UTF-8
    std::string_view head = plain;
    FURROW_TRY_ASSIGN(auto binary,
        config.encoding != "auto"             ? Result<bool>(false) // a person knows that it is text
            : isWideEncoding(format.encoding) ? Result<bool>(looksBinary(head))
                                              : isBinary(*source, name, format.compression, raw.value()));
    if (binary)
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "%1 is binary, not text. If it is text with control characters in it, name its encoding, such as utf-8, with --encoding.",
                { name }) };
    if (head.starts_with("\xef\xbb\xbf")) {
        format.skipBytes = 3;
        head.remove_prefix(3);
    }
    FURROW_TRY(checkTextClaim(name, extension, head));
    FURROW_TRY_ASSIGN(auto kind, textFormat(head, plain.size() == kHeadBytes, name, config.textColumn, format.list));
    format.format = kind;
    format.endsLinesAtCarriageReturns = (kind == TextFormat::Text || kind == TextFormat::JsonLines)
        && head.find('\n') == std::string_view::npos && std::count(head.begin(), head.end(), '\r') > 1;
    if (format.isCsv()) {
        format.rules = kRulesOfBytes;
        const auto separator = separatorLine(head);
        format.skipBytes += static_cast<std::int32_t>(separator.sizeBytes);
        head.remove_prefix(separator.sizeBytes);
        const char usual = format.format == TextFormat::Tsv ? '\t' : ',';
        format.csv = findCsvDialect(head, separator.sizeBytes > 0 ? separator.delimiter : usual, config);
        if (plain.size() == kHeadBytes)
            FURROW_TRY(findLaterEscape(source, name, config, format));
    }
    if (format.isCsv() && endsAtCarriageReturns(head, format.csv))
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "%1 has carriage returns without a line feed outside of quotes, at which some programs end a record and others do not. Convert them to line feeds (tr '\\r' '\\n' < FILE), or put quotes around the fields that hold them.",
                { name }) };
    return format;
}

} // namespace furrow
