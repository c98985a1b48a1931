#include "core/data/source/content_claim.h"

#include "core/base/lower_case.h"
#include "core/base/sentence.h"
#include "core/data/source/json_list.h"
#include "core/data/source/json_text.h"

#include <algorithm>

namespace furrow {

namespace {

using namespace std::string_view_literals;

constexpr int kLookedAtLines = 100;

/// The first letters behind white space.
std::string lowerStart(std::string_view head)
{
    const auto begin = std::min(head.find_first_not_of(" \t\r\n"), head.size());
    return lowerCase(head.substr(begin, 16));
}

bool isLfsPointer(std::string_view head) { return head.starts_with("version https://git-lfs.github.com/spec/"); }

bool isWebPage(std::string_view head)
{
    const std::string start = lowerStart(head);
    return start.starts_with("<!doctype html") || start.starts_with("<html");
}

/// The causes that any format can have; "": none of them is likely.
Message usualCause(const std::string& name, std::string_view head)
{
    if (isLfsPointer(head))
        return sentence(
            "%1 is a pointer of git-lfs, not the data itself. Fetch the data with 'git lfs pull'.", { name });
    if (isWebPage(head))
        return sentence(
            "%1 is a web page, not data: its download was refused or needs a log-in. Fetch it again.", { name });
    return {};
}

Message whyNotParquet(const std::string& name, std::string_view head, std::string_view tail)
{
    if (auto cause = usualCause(name, head); !cause.empty())
        return cause;
    if (head.starts_with("PARE") || tail == "PARE")
        return sentence(
            "%1 is Parquet with an encrypted footer, which Furrow cannot read. Write it again without encryption.",
            { name });
    if (tail == "PAR1")
        return sentence(
            "%1 ends as Parquet and does not begin so: its first bytes are damaged. Fetch or write it again.",
            { name });
    if (const auto content = knownContent(head))
        return sentence("%1 is called Parquet and is %2. Give it its right name, or write it as Parquet.",
            { name, sentence(content->what) });
    return sentence(
        "%1 is called Parquet and neither begins nor ends as such a file. Fetch or write it again, or give it its right name.",
        { name });
}

/// Whether any of the first lines is a JSON object; a line that is cut by the end of the head counts when it begins as
/// one.
/// Of a line that begins with an object and goes on with another one.
bool hasSeveralObjects(std::string_view line)
{
    const auto begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos || line[begin] != '{')
        return false;
    JsonNesting nesting;
    for (auto at = begin; at < line.size(); ++at)
        if (nesting.look(line[at]) && nesting.depth() == 0) {
            const auto next = line.find_first_not_of(" \t,;", at + 1);
            return next != std::string_view::npos && line[next] == '{';
        }
    return false;
}

bool hasJsonObject(std::string_view head)
{
    for (int line = 0; line < kLookedAtLines && !head.empty(); ++line) {
        const auto end = head.find('\n');
        const auto text = head.substr(0, end);
        const bool cut = end == std::string_view::npos;
        if (isJsonObject(text) || (cut && lowerStart(text).starts_with('{')))
            return true;
        head.remove_prefix(cut ? head.size() : end + 1);
    }
    return false;
}

} // namespace

std::optional<KnownContent> knownContent(std::string_view head)
{
    using enum NotText;
    static constexpr std::pair<std::string_view, KnownContent> kMagics[] = {
        { "\x89PNG"sv, { SentenceText("a PNG picture"), LeaveOut } },
        { "%PDF-"sv, { SentenceText("a PDF document"), SaveAsText } },
        { "PK\x03\x04"sv, { SentenceText("a zip archive"), Rename } },
        { "PK\x05\x06"sv, { SentenceText("a zip archive"), Rename } },
        { "\x7f"
          "ELF"sv,
            { SentenceText("a program"), LeaveOut } },
        { "\xff\xd8\xff"sv, { SentenceText("a JPEG picture"), LeaveOut } },
        { "GIF8"sv, { SentenceText("a GIF picture"), LeaveOut } },
        { "RIFF"sv, { SentenceText("a sound, film or picture"), LeaveOut } },
        { "SQLite format 3\0"sv, { SentenceText("an SQLite database"), WriteAsRows } },
        { "\xd0\xcf\x11\xe0"sv, { SentenceText("a document of an older Office"), SaveAsText } },
        { "{\\rtf"sv, { SentenceText("an RTF document"), SaveAsText } },
        { "PAR1"sv, { SentenceText("a Parquet file"), Rename } },
        { "PARE"sv, { SentenceText("an encrypted Parquet file"), WriteAsRows } },
        { "ARROW1"sv, { SentenceText("an Arrow file"), Rename } },
        { "FEA1"sv, { SentenceText("a Feather file"), WriteAsRows } },
        { "\xff\xff\xff\xff"sv, { SentenceText("an Arrow stream"), Rename } },
        { "ORC"sv, { SentenceText("an ORC file"), WriteAsRows } },
        { "Obj\x01"sv, { SentenceText("an Avro file"), WriteAsRows } },
        { "\x89HDF"sv, { SentenceText("an HDF5 file"), WriteAsRows } },
        { "\x93NUMPY"sv, { SentenceText("a NumPy array"), WriteAsRows } },
        { "GGUF"sv, { SentenceText("a GGUF model"), LeaveOut } },
        { "\xfd"
          "7zXZ"sv,
            { SentenceText("an xz archive"), Unpack } },
        { "BZh"sv, { SentenceText("a bzip2 archive"), Rename } },
        { "7z\xbc\xaf"sv, { SentenceText("a 7z archive"), Unpack } },
        { "Rar!\x1a"sv, { SentenceText("a rar archive"), Unpack } },
        { "\x04\x22\x4d\x18"sv, { SentenceText("an lz4 archive"), Unpack } },
        { "\xff\x06\x00\x00sNaPpY"sv, { SentenceText("a snappy archive"), Unpack } },
        { "\x80\x02"sv, { SentenceText("a pickle file"), WriteAsRows } },
        { "\x80\x03"sv, { SentenceText("a pickle file"), WriteAsRows } },
        { "\x80\x04"sv, { SentenceText("a pickle file"), WriteAsRows } },
        { "\x80\x05"sv, { SentenceText("a pickle file"), WriteAsRows } },
    };
    for (const auto& [magic, content] : kMagics) {
        const bool isWord = std::all_of(magic.begin(), magic.end(),
            [](char c) { return static_cast<unsigned char>(c) >= ' ' && static_cast<unsigned char>(c) < 127; });
        const bool isText = magic.starts_with('{') || magic.starts_with('%'); // RTF and PDF may be all letters
        if (head.starts_with(magic) && (!isWord || isText || looksBinary(head))) // a text may begin with ORC or RIFF
            return content;
    }
    constexpr std::size_t kTarMagic = 257;
    if (head.size() > kTarMagic + 5 && head.substr(kTarMagic, 5) == "ustar")
        return KnownContent { SentenceText("a tar archive"), Rename };
    return std::nullopt;
}

Error notText(const std::string& name, const KnownContent& content)
{
    const std::vector<Argument> values { name, sentence(content.what) };
    const auto advice = [&]() -> Message {
        switch (content.advice) {
        case NotText::SaveAsCsv: return sentence("%1 is %2. Save its table as csv and name that file.", values);
        case NotText::SaveAsText:
            return sentence("%1 is %2, not text. Save it as plain text (.txt) and name that file.", values);
        case NotText::WriteAsRows:
            return sentence(
                "%1 is %2, which Furrow does not read. Write its texts as jsonl, csv or Parquet and name that file.",
                values);
        case NotText::Rename: return sentence("%1 is %2, not text. Give it its right name.", values);
        case NotText::Unpack:
            return sentence("%1 is %2, which Furrow does not open. Unpack it and name the folder.", values);
        case NotText::LeaveOut: break;
        }
        return sentence("%1 is %2, not text. Only text can be trained: leave it out.", values);
    };
    return { ErrorCode::InvalidArgument, advice() };
}

Error notParquet(const std::string& name, std::string_view head, std::string_view tail)
{
    return { ErrorCode::Corrupt, whyNotParquet(name, head, tail) };
}

Status checkTextClaim(const std::string& name, const std::string& extension, std::string_view head)
{
    const bool isTable = extension == "csv" || extension == "tsv" || extension == "jsonl" || extension == "ndjson"
        || extension == "json";
    if (isLfsPointer(head) || (isTable && isWebPage(head)))
        return Error { ErrorCode::Corrupt, usualCause(name, head) };
    const auto firstEnd = head.find('\n');
    const bool isOneLine
        = firstEnd == std::string_view::npos || head.find_first_not_of(" \t\r\n", firstEnd) == std::string_view::npos;
    if (isTable && extension.find("json") != std::string::npos && (isOneLine || !hasJsonObject(head))
        && hasSeveralObjects(head.substr(0, firstEnd)))
        return Error { ErrorCode::Corrupt,
            sentence("%1 has several JSON objects on its first line. Write one object per line.", { name }) };
    const bool isLines = extension == "jsonl" || extension == "ndjson";
    if (isLines && head.find_first_not_of(" \t\r\n") != std::string_view::npos && !hasJsonObject(head))
        return Error { ErrorCode::Corrupt,
            sentence(
                "%1 is called JSON lines, and none of its first lines is a JSON object. Give it its right name, or write one object per line.",
                { name }) };
    return {};
}

bool looksBinary(std::string_view bytes)
{
    constexpr std::size_t kMostControls = 2; // of a short text
    constexpr std::size_t kOneIn = 200; // packed data has one in ten
    const auto controls = static_cast<std::size_t>(std::count_if(bytes.begin(), bytes.end(), [](char c) {
        const auto u = static_cast<unsigned char>(c);
        return u < 32 && u != '\t' && u != '\n' && u != '\r' && u != '\f' && u != 27 && u != 8;
    }));
    return controls > kMostControls && controls * kOneIn > bytes.size();
}

} // namespace furrow
