#include "core/data/tokenizer/normalizer.h"

#include "core/base/check.h"
#include "core/data/tokenizer/unicode_classes.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/stringpiece.h>

#include <algorithm>

namespace furrow {

namespace {

bool isAscii(std::string_view text)
{
    return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

const icu::Normalizer2& normalizerOf(UnicodeForm form)
{
    UErrorCode status = U_ZERO_ERROR;
    const icu::Normalizer2* found = nullptr;
    switch (form) {
    case UnicodeForm::Nfc:
        found = icu::Normalizer2::getNFCInstance(status);
        break;
    case UnicodeForm::Nfd:
        found = icu::Normalizer2::getNFDInstance(status);
        break;
    case UnicodeForm::Nfkc:
        found = icu::Normalizer2::getNFKCInstance(status);
        break;
    case UnicodeForm::Nfkd:
        found = icu::Normalizer2::getNFKDInstance(status);
        break;
    }
    FURROW_CHECK(U_SUCCESS(status) && found, "ICU has no normalization data");
    return *found;
}

void normalizeValid(const icu::Normalizer2& normalizer, std::string_view text, std::string& out)
{
    UErrorCode status = U_ZERO_ERROR;
    icu::StringByteSink<std::string> sink(&out);
    normalizer.normalizeUTF8(0, icu::StringPiece(text.data(), static_cast<std::int32_t>(text.size())), sink, nullptr, status);
    FURROW_CHECK(U_SUCCESS(status), "ICU could not normalize valid text");
}

/// A place to cut long text (ICU counts in 32 bits): behind it stands an ASCII character, which combines with nothing
/// before it.
std::size_t endOfPiece(std::string_view text, std::size_t begin, std::size_t end)
{
    constexpr std::size_t kPiece = 256u << 20;
    if (end - begin <= kPiece)
        return end;
    for (auto at = begin + kPiece; at < end; ++at) {
        if (static_cast<unsigned char>(text[at]) < 0x80)
            return at;
    }
    return end;
}

bool apply(UnicodeForm form, std::string_view text, std::string& out)
{
    if (isAscii(text))
        return false;
    const auto& normalizer = normalizerOf(form);
    const char* end = text.data() + text.size();
    for (std::size_t begin = 0; begin < text.size();) {
        const char* p = text.data() + begin;
        while (p < end) {
            const auto c = decodeChar(p, end);
            if (c.codePoint == kInvalidByte)
                break;
            p += c.sizeBytes;
        }
        const auto validEnd = static_cast<std::size_t>(p - text.data());
        while (begin < validEnd) {
            const auto cut = endOfPiece(text, begin, validEnd);
            normalizeValid(normalizer, text.substr(begin, cut - begin), out);
            begin = cut;
        }
        if (begin < text.size())
            out += text[begin++];
    }
    return true;
}

bool apply(const PrependText& step, std::string_view text, std::string& out)
{
    if (text.empty())
        return false;
    out.append(step.text).append(text);
    return true;
}

bool apply(const ReplaceText& step, std::string_view text, std::string& out)
{
    auto at = step.from.empty() ? std::string_view::npos : text.find(step.from);
    if (at == std::string_view::npos)
        return false;
    std::size_t begin = 0;
    for (; at != std::string_view::npos; at = text.find(step.from, begin)) {
        out.append(text.substr(begin, at - begin)).append(step.to);
        begin = at + step.from.size();
    }
    out.append(text.substr(begin));
    return true;
}

} // namespace

std::string_view normalized(const std::vector<NormalizerStep>& steps, std::string_view text, std::string& storage)
{
    for (const auto& step : steps) {
        std::string out;
        if (std::visit([&](const auto& s) { return apply(s, text, out); }, step)) {
            storage = std::move(out);
            text = storage;
        }
    }
    return text;
}

} // namespace furrow
