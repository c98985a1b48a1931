// The few elements that are needed, as S3 and its likes write them: no attributes on them, no comments, no CDATA.

#include "core/data/hub/bucket_list.h"

#include "core/base/sentence.h"
#include "core/data/tokenizer/unicode_classes.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace furrow {

namespace {

std::string unescaped(std::string_view text)
{
    static constexpr std::pair<std::string_view, char> kNames[]
        = { { "amp", '&' }, { "lt", '<' }, { "gt", '>' }, { "quot", '"' }, { "apos", '\'' } };
    std::string out;
    while (!text.empty()) {
        const auto plain = std::min(text.find('&'), text.size());
        out += text.substr(0, plain);
        text.remove_prefix(plain);
        const auto end = text.find(';');
        if (text.empty() || end == std::string_view::npos)
            return out.append(text);
        auto name = text.substr(1, end - 1);
        text.remove_prefix(end + 1);
        for (const auto& [known, character] : kNames)
            if (name == known)
                out += character;
        if (!name.starts_with('#'))
            continue;
        name.remove_prefix(1);
        const bool isHex = name.starts_with('x') || name.starts_with('X');
        name.remove_prefix(isHex ? 1 : 0);
        std::uint32_t code = 0;
        std::from_chars(name.data(), name.data() + name.size(), code, isHex ? 16 : 10);
        appendUtf8(out, static_cast<char32_t>(code));
    }
    return out;
}

/// What stands between <name> and </name>, from `from` on; moves `from` behind it. False: there is none.
bool element(std::string_view xml, std::string_view name, std::size_t& from, std::string_view& content)
{
    const std::string open = "<" + std::string(name) + ">";
    const std::string close = "</" + std::string(name) + ">";
    const auto begin = xml.find(open, from);
    const auto end = begin == std::string_view::npos ? begin : xml.find(close, begin);
    if (end == std::string_view::npos)
        return false;
    content = xml.substr(begin + open.size(), end - begin - open.size());
    from = end + close.size();
    return true;
}

std::string textOf(std::string_view xml, std::string_view name)
{
    std::size_t from = 0;
    std::string_view content;
    return element(xml, name, from, content) ? unescaped(content) : std::string();
}

} // namespace

Result<BucketPage> readBucketPage(std::string_view xml)
{
    if (xml.find("<ListBucketResult") == std::string_view::npos)
        return Error { ErrorCode::Network, sentence("the store's list cannot be read") };
    BucketPage page;
    std::size_t from = 0;
    for (std::string_view one; element(xml, "Contents", from, one);) {
        StoreObject object { textOf(one, "Key"), 0, textOf(one, "ETag") };
        if (!object.version.empty() && object.version.front() != '"')
            object.version = '"' + object.version + '"'; // as the header has it
        const std::string size = textOf(one, "Size");
        const auto parsed = std::from_chars(size.data(), size.data() + size.size(), object.sizeBytes);
        if (object.key.empty() || parsed.ec != std::errc())
            return Error { ErrorCode::Network, sentence("the store's list cannot be read") };
        page.objects.push_back(std::move(object));
    }
    if (textOf(xml, "IsTruncated") == "true")
        page.next = textOf(xml, "NextContinuationToken");
    return page;
}

} // namespace furrow
