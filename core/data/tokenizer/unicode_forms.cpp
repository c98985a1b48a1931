#include "core/data/tokenizer/normalizer.h"

#include "core/base/check.h"
#include "core/data/tokenizer/unicode_classes.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/stringpiece.h>
#include <unicode/uniset.h>

#include <algorithm>
#include <optional>

namespace furrow {

namespace {

bool isAscii(std::string_view text)
{
    return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// ICU's normalizer for the code points of Unicode 9, the version of the tokenizers library: later ones stay as they
/// are and combine with nothing, as there.
class ReferenceNormalizer {
public:
    using Getter = const icu::Normalizer2* (*)(UErrorCode&);
    explicit ReferenceNormalizer(Getter getter)
    {
        UErrorCode status = U_ZERO_ERROR;
        const auto* all = getter(status);
        known_ = icu::UnicodeSet(UNICODE_STRING_SIMPLE("[:Age=9.0:]"), status);
        FURROW_CHECK(U_SUCCESS(status) && all, "ICU has no normalization data");
        known_.freeze();
        filtered_.emplace(*all, known_);
    }
    const icu::Normalizer2& get() const { return *filtered_; }

private:
    icu::UnicodeSet known_;
    std::optional<icu::FilteredNormalizer2> filtered_;
};

const icu::Normalizer2& normalizerOf(UnicodeForm form)
{
    static const ReferenceNormalizer nfc(&icu::Normalizer2::getNFCInstance);
    static const ReferenceNormalizer nfd(&icu::Normalizer2::getNFDInstance);
    static const ReferenceNormalizer nfkc(&icu::Normalizer2::getNFKCInstance);
    static const ReferenceNormalizer nfkd(&icu::Normalizer2::getNFKDInstance);
    switch (form) {
    case UnicodeForm::Nfc: return nfc.get();
    case UnicodeForm::Nfd: return nfd.get();
    case UnicodeForm::Nfkc: return nfkc.get();
    case UnicodeForm::Nfkd: break;
    }
    return nfkd.get();
}

void normalizeValid(const icu::Normalizer2& normalizer, std::string_view text, std::string& out)
{
    UErrorCode status = U_ZERO_ERROR;
    icu::StringByteSink<std::string> sink(&out);
    normalizer.normalizeUTF8(
        0, icu::StringPiece(text.data(), static_cast<std::int32_t>(text.size())), sink, nullptr, status);
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

} // namespace

bool applyForm(UnicodeForm form, std::string_view text, std::string& out)
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

} // namespace furrow
