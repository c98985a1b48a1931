#include "core/data/source/warc_record.h"

#include "core/base/utf8.h"
#include "core/chat/row_problems.h"
#include "core/data/source/record_reader.h"
#include "core/data/source/text_encoding.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace furrow {

namespace {

constexpr std::size_t kLongestHead = 64 << 10;

bool sameWithoutCase(std::string_view a, std::string_view b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
        [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::string_view trimmed(std::string_view text)
{
    const auto begin = text.find_first_not_of(" \t\r");
    return begin == std::string_view::npos ? std::string_view()
                                           : text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// Lines up to a blank one: those of WARC, and of HTTP inside it.
struct Head {
    std::string_view first; ///< "WARC/1.0", "HTTP/1.1 200 OK"
    std::string_view fields;
    std::size_t sizeBytes = 0; ///< with the blank line

    std::string_view value(std::string_view name) const
    {
        for (auto rest = fields; !rest.empty();) {
            const auto line = rest.substr(0, rest.find('\n'));
            rest.remove_prefix(std::min(rest.size(), line.size() + 1));
            const auto colon = line.find(':');
            if (colon != std::string_view::npos && sameWithoutCase(trimmed(line.substr(0, colon)), name))
                return trimmed(line.substr(colon + 1));
        }
        return {};
    }
};

std::optional<Head> readHead(std::string_view bytes)
{
    std::size_t at = bytes.find('\n');
    if (at == std::string_view::npos)
        return std::nullopt;
    Head head;
    head.first = trimmed(bytes.substr(0, at));
    const std::size_t begin = ++at;
    for (;;) {
        const auto end = bytes.find('\n', at);
        if (end == std::string_view::npos)
            return std::nullopt;
        const bool isBlank = trimmed(bytes.substr(at, end - at)).empty();
        if (isBlank) {
            head.fields = bytes.substr(begin, at - begin);
            head.sizeBytes = end + 1;
            return head;
        }
        at = end + 1;
    }
}

std::size_t blankBefore(std::string_view bytes) { return std::min(bytes.find_first_not_of("\r\n"), bytes.size()); }

bool isPlainText(std::string_view type)
{
    return sameWithoutCase(trimmed(type.substr(0, type.find(';'))), "text/plain");
}

bool isOkay(std::string_view statusLine)
{
    const auto space = statusLine.find(' ');
    return statusLine.starts_with("HTTP/") && space != std::string_view::npos
        && trimmed(statusLine.substr(space)).starts_with("200");
}

std::optional<WarcText> responseText(std::string_view content)
{
    const auto http = readHead(content);
    if (!http || !isOkay(http->first) || !isPlainText(http->value("Content-Type")))
        return std::nullopt;
    const auto isSet = [&http](const char* field) {
        const auto packed = http->value(field);
        return !packed.empty() && !sameWithoutCase(packed, "identity");
    };
    const auto type = http->value("Content-Type");
    const auto body = content.substr(http->sizeBytes);
    if (isSet("Content-Encoding"))
        return WarcText { {}, literal(kRowPacked), type };
    if (sameWithoutCase(http->value("Transfer-Encoding"), "chunked"))
        return WarcText { body, literal(kRowPacked), type, true };
    return isSet("Transfer-Encoding") ? WarcText { {}, literal(kRowPacked), type } : WarcText { body, nullptr, type };
}

/// The bytes of a body in chunks (RFC 9112, 7.1), without what may stand behind the last; nothing where it is broken.
std::optional<std::string> joinedChunks(std::string_view body)
{
    std::string joined;
    for (;;) {
        const auto line = body.substr(0, body.find('\n'));
        if (line.size() == body.size()) // the length of a chunk is a line
            return std::nullopt;
        body.remove_prefix(line.size() + 1);
        const auto length = trimmed(line.substr(0, line.find(';')));
        std::uint64_t size = 0;
        const auto parsed = std::from_chars(length.data(), length.data() + length.size(), size, 16);
        if (length.empty() || parsed.ec != std::errc() || parsed.ptr != length.data() + length.size()
            || size > body.size())
            return std::nullopt;
        if (size == 0)
            return joined;
        joined.append(body.substr(0, size));
        body.remove_prefix(size);
        body.remove_prefix(body.starts_with('\r') ? 1 : 0);
        if (!body.starts_with('\n'))
            return std::nullopt;
        body.remove_prefix(1);
    }
}

/// Of "text/plain; charset=windows-1252"; "" where it names none.
std::string_view charsetOf(std::string_view type)
{
    constexpr std::string_view kName = "charset";
    while (!type.empty()) {
        const auto parameter = type.substr(0, type.find(';'));
        type.remove_prefix(std::min(type.size(), parameter.size() + 1));
        const auto equals = parameter.find('=');
        if (equals == std::string_view::npos || !sameWithoutCase(trimmed(parameter.substr(0, equals)), kName))
            continue;
        auto name = trimmed(parameter.substr(equals + 1));
        const bool isQuoted
            = name.size() >= 2 && (name.front() == '"' || name.front() == '\'') && name.back() == name.front();
        return isQuoted ? name.substr(1, name.size() - 2) : name;
    }
    return {};
}

/// "" for UTF-8. A charset that nobody knows says nothing.
std::string encodingOf(std::string_view text, std::string_view type)
{
    const auto charset = charsetOf(type);
    const auto named = encodingNamed(std::string(charset));
    if (!charset.empty() && named.ok())
        return named.value() == "ISO-8859-1" ? "windows-1252" : named.value(); // what servers mean, as browsers have it
    if (isValidUtf8(text))
        return "";
    constexpr std::size_t kSample = 64 << 10; // a record may have megabytes, and is guessed anew each time it is read
    const std::string samples[] = { std::string(text.substr(0, kSample)) };
    return guessEncoding(samples).encoding;
}

} // namespace

std::optional<WarcHead> warcHead(std::string_view bytes)
{
    const std::size_t blank = blankBefore(bytes);
    const auto record = bytes.substr(blank);
    constexpr std::string_view kBegin = "WARC/";
    if (!kBegin.starts_with(record.substr(0, kBegin.size())))
        return WarcHead { 0, true };
    const auto head = readHead(record.substr(0, kLongestHead));
    if (!head)
        return record.size() < kLongestHead ? std::nullopt : std::optional(WarcHead { 0, true });
    const auto length = head->value("Content-Length");
    std::uint64_t size = 0;
    const auto parsed = std::from_chars(length.data(), length.data() + length.size(), size);
    constexpr std::uint64_t kLargest = 1ull << 60;
    if (length.empty() || parsed.ec != std::errc() || parsed.ptr != length.data() + length.size() || size > kLargest)
        return WarcHead { 0, true };
    return WarcHead { blank + head->sizeBytes + size, false };
}

std::optional<WarcText> warcText(std::string_view record)
{
    record.remove_prefix(blankBefore(record));
    const auto head = readHead(record);
    if (!head)
        return std::nullopt;
    const auto content = record.substr(head->sizeBytes);
    const auto type = head->value("WARC-Type");
    if (sameWithoutCase(type, "response"))
        return responseText(content);
    const bool isText = (sameWithoutCase(type, "conversion") || sameWithoutCase(type, "resource"))
        && isPlainText(head->value("Content-Type"));
    return isText ? std::optional(WarcText { content, nullptr, head->value("Content-Type") }) : std::nullopt;
}

WarcText readableText(const WarcText& found, std::string& room)
{
    WarcText text = found;
    if (text.isInChunks) {
        auto joined = joinedChunks(text.text);
        if (!joined)
            return { {}, literal(kRowBrokenChunks), text.type };
        room = std::move(*joined);
        text = { room, nullptr, text.type };
    }
    if (text.problem != nullptr)
        return text;
    const std::string encoding = encodingOf(text.text, text.type);
    if (encoding.empty())
        return text;
    room = decodedText(text.text, encoding);
    return { room, room.size() > kMaxRowBytes ? literal(kRowTooLong) : nullptr, text.type };
}

} // namespace furrow
