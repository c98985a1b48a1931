#include "core/data/data_format.h"

#include "core/base/sentence.h"
#include "core/base/utf8.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <vector>

namespace furrow {

namespace {

constexpr std::size_t kHeadBytes = 64 << 10;

std::string lowerCase(std::string_view text)
{
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
}

/// The last extension that is not a compression: "a.jsonl.gz" -> "jsonl".
std::string dataExtension(std::string_view name)
{
    std::string lower = lowerCase(name.substr(name.find_last_of("/\\") == std::string_view::npos ? 0 : name.find_last_of("/\\") + 1));
    for (const char* packed : { ".gz", ".zst", ".zstd", ".gzip" })
        if (lower.ends_with(packed)) {
            lower.resize(lower.size() - std::string_view(packed).size());
            break;
        }
    const auto dot = lower.rfind('.');
    return dot == std::string::npos ? "" : lower.substr(dot + 1);
}

Result<std::string> readHead(ByteStream& stream)
{
    std::string head(kHeadBytes, '\0');
    std::size_t filled = 0;
    while (filled < head.size()) {
        auto n = stream.read(std::span<char>(head).subspan(filled));
        if (!n.ok())
            return n.error();
        if (n.value() == 0)
            break;
        filled += n.value();
    }
    head.resize(filled);
    return head;
}

bool looksBinary(std::string_view head)
{
    if (head.empty())
        return false;
    std::size_t controls = 0;
    for (const char c : head) {
        const auto u = static_cast<unsigned char>(c);
        controls += (u < 32 && u != '\t' && u != '\n' && u != '\r' && u != '\f' && u != 27 && u != 8) ? 1 : 0;
    }
    if (controls > 2 && controls * 20 > head.size())
        return true;
    if (head.size() < 512)
        return false; // too little to judge by
    // Text in a foreign 8-bit encoding has few ill-formed pieces and no control characters; packed data has many of both.
    if (controls * 200 <= head.size())
        return false;
    const auto repaired = replaceInvalidUtf8(head);
    return repaired.replaced * 10 > head.size();
}

/// What binary formats begin with, to call them by name.
const char* knownMagic(std::string_view head)
{
    using namespace std::string_view_literals;
    static constexpr std::pair<std::string_view, const char*> kMagics[] = { { "\x89PNG"sv, "a PNG picture" }, { "%PDF-"sv, "a PDF document" },
        { "PK\x03\x04"sv, "a zip archive" }, { "\x7f"
                                               "ELF"sv,
            "a program" },
        { "\xff\xd8\xff"sv, "a JPEG picture" }, { "SQLite format 3"sv, "an SQLite database" }, { "ARROW1"sv, "an Arrow file" },
        { "\xfd"
          "7zXZ"sv,
            "an xz archive" },
        { "BZh"sv, "a bzip2 archive" }, { "7z\xbc\xaf"sv, "a 7z archive" }, { "\x80\x02"sv, "a pickle file" }, { "\x80\x04"sv, "a pickle file" } };
    for (const auto& [magic, what] : kMagics)
        if (head.starts_with(magic))
            return what;
    return nullptr;
}

std::string_view firstLine(std::string_view head)
{
    return head.substr(0, head.find('\n'));
}

bool isJsonObject(std::string_view line)
{
    return nlohmann::json::parse(line, nullptr, false).is_object();
}

/// The first three complete lines are JSON objects (one is enough when there is only one).
bool looksLikeJsonLines(std::string_view head)
{
    int lines = 0;
    while (lines < 3 && !head.empty()) {
        const auto line = firstLine(head);
        const bool complete = line.size() < head.size();
        if (line.size() >= kHeadBytes)
            return line.starts_with("{\""); // one line longer than the head
        if (!complete && lines > 0)
            break;
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

Result<TextFormat> textFormat(std::string_view head, const std::string& name, const std::string& textColumn)
{
    const std::string extension = dataExtension(name);
    if (extension == "csv")
        return TextFormat::Csv;
    if (extension == "tsv")
        return TextFormat::Tsv;
    if (extension == "jsonl" || extension == "ndjson")
        return TextFormat::JsonLines;
    if (looksLikeJsonLines(head))
        return TextFormat::JsonLines;
    const auto first = head.find_first_not_of(" \t\r\n");
    if (extension == "json" && first != std::string_view::npos)
        return Error { ErrorCode::InvalidArgument, head[first] == '[' ? sentence("%1 is one JSON array; write one object per line instead (jsonl).", { name })
                                                                    : sentence("%1 is one JSON document; write one object per line instead (jsonl).", { name }) };
    if (!textColumn.empty() && extension != "txt" && headerHas(firstLine(head), ',', textColumn))
        return TextFormat::Csv;
    if (!textColumn.empty() && extension != "txt" && headerHas(firstLine(head), '\t', textColumn))
        return TextFormat::Tsv;
    return TextFormat::Text;
}

} // namespace

std::string toString(TextFormat format)
{
    static const char* const kNames[] = { "text", "csv", "tsv", "jsonl", "parquet" };
    return kNames[static_cast<int>(format)];
}

bool hasDataExtension(std::string_view name)
{
    static const char* const kKnown[] = { "txt", "text", "csv", "tsv", "jsonl", "ndjson", "json", "parquet" };
    const std::string extension = dataExtension(name);
    return std::any_of(std::begin(kKnown), std::end(kKnown), [&](const char* known) { return extension == known; });
}

Result<FileFormat> detectFormat(const std::shared_ptr<const ByteSource>& source, const std::string& name, const std::string& textColumn)
{
    FileFormat format;
    char magic[4] = {};
    const auto size = std::min<std::uint64_t>(source->sizeBytes(), sizeof magic);
    if (auto status = source->readAt(0, std::as_writable_bytes(std::span<char>(magic, size))); !status.ok())
        return status.error();
    const std::string_view start(magic, size);
    if (start == "PAR1") {
        format.format = TextFormat::Parquet;
        return format;
    }
    if (start.starts_with("\x1f\x8b"))
        format.compression = Compression::Gzip;
    else if (start.starts_with("\x28\xb5\x2f\xfd"))
        format.compression = Compression::Zstd;
    auto read = readHead(*expandedStream(streamFrom(source, 0), format.compression, name));
    if (!read.ok())
        return read.error();
    std::string_view head = read.value();
    if (head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff"))
        return Error { ErrorCode::InvalidArgument, sentence("%1 is UTF-16 text. Convert it to UTF-8 first.", { name }) };
    if (const char* what = knownMagic(head))
        return Error { ErrorCode::InvalidArgument, sentence("%1 is %2, not text.", { name, what }) };
    if (looksBinary(head))
        return Error { ErrorCode::InvalidArgument, sentence("%1 is binary, not text.", { name }) };
    if (head.starts_with("\xef\xbb\xbf")) {
        format.skipBytes = 3;
        head.remove_prefix(3);
    }
    auto kind = textFormat(head, name, textColumn);
    if (!kind.ok())
        return kind.error();
    format.format = kind.value();
    return format;
}

std::unique_ptr<ByteStream> plainStream(const std::shared_ptr<const ByteSource>& source, const FileFormat& format, const std::string& name)
{
    return expandedStream(streamFrom(source, 0), format.compression, name);
}

} // namespace furrow
