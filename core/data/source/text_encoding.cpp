#include "core/data/source/text_encoding.h"

#include "core/base/sentence.h"
#include "core/data/tokenizer/unicode_classes.h"

#include <unicode/ucnv.h>
#include <unicode/ucnv_cb.h>
#include <unicode/ucsdet.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace furrow {

namespace {

constexpr int kLikely = 20; ///< ICU's confidence, 0..100: noise reaches 10, prose in its own encoding 30 and more

const std::string kWestern = "windows-1252";
const std::string kCentral = "ISO-8859-2";

constexpr std::size_t kEvidence = 10; ///< bytes that are no UTF-8; fewer say nothing about another encoding

struct CloseConverter {
    void operator()(UConverter* converter) const noexcept { ucnv_close(converter); }
};
struct CloseDetector {
    void operator()(UCharsetDetector* detector) const noexcept { ucsdet_close(detector); }
};
using Converter = std::unique_ptr<UConverter, CloseConverter>;

Converter openConverter(const std::string& name)
{
    UErrorCode error = U_ZERO_ERROR;
    Converter converter(ucnv_open(name.c_str(), &error));
    return U_SUCCESS(error) ? std::move(converter) : nullptr;
}

constexpr const char* kChinese = "windows-54936"; ///< GB18030 whose byte 0x80 is a euro sign, as in GBK

/// Encodings that text of our days outgrew, and the one that has all their characters and those that were added. ICU
/// makes private or control characters of the latter, and has another encoding of IBM's for "cp949".
struct Outgrown {
    const char* extension;
    std::array<const char*, 4> names;
};
constexpr Outgrown kOutgrown[] {
    { "windows-949", { "EUC-KR", "ibm-970_P110_P110-2006_U2", "ibm-949_P110-1999", "windows-949-2000" } },
    { kChinese, { "GB18030", "windows-936-2000", "ibm-1383_P110-1999", "ibm-1386_P100-2001" } },
    { "Big5-HKSCS", { "Big5", "windows-950-2000", "ibm-950_P110-1999", "ibm-1375_P100-2008" } },
};
std::string withItsExtension(const std::string& name)
{
    for (const auto& [extension, outgrown] : kOutgrown)
        if (std::ranges::any_of(
                outgrown, [&name](const char* known) { return ucnv_compareNames(name.c_str(), known) == 0; }))
            return extension;
    return name;
}

/// Text in code units of two bytes that are mostly Latin, without a byte order mark. Where all bytes are ASCII, a few
/// zeros are such characters of a text of single bytes.
std::string wideWithoutMark(std::string_view text)
{
    std::size_t zeros[2] = { 0, 0 };
    for (std::size_t i = 0; i < text.size(); ++i)
        zeros[i % 2] += text[i] == '\0' ? 1 : 0;
    const std::size_t half = text.size() / 2;
    if (half < 8)
        return "";
    const bool isAscii = std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
    const std::size_t share = isAscii ? 80 : 20; // percent
    const auto many = [&](std::size_t n) { return n * 100 > half * share; };
    const auto few = [half](std::size_t n) { return n * 10 < half; };
    return many(zeros[1]) && few(zeros[0]) ? "UTF-16LE" : many(zeros[0]) && few(zeros[1]) ? "UTF-16BE" : "";
}

std::string markedEncoding(std::string_view text)
{
    using namespace std::string_view_literals;
    static constexpr std::pair<std::string_view, const char*> kMarks[] = { { "\xff\xfe\0\0"sv, "UTF-32LE" },
        { "\0\0\xfe\xff"sv, "UTF-32BE" }, { "\xff\xfe"sv, "UTF-16LE" }, { "\xfe\xff"sv, "UTF-16BE" } };
    for (const auto& [mark, encoding] : kMarks)
        if (text.starts_with(mark))
            return encoding;
    return "";
}

bool isContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// Characters of more than one byte, and bytes that belong to none. Where a sample was cut is no damage.
struct Utf8Count {
    std::size_t characters = 0;
    std::size_t broken = 0;
};
void count(std::string_view sample, bool isBeginning, Utf8Count& counts)
{
    constexpr std::size_t kLongest = 4;
    std::size_t begin = 0;
    while (!isBeginning && begin < std::min(sample.size(), kLongest - 1) && isContinuation(sample[begin]))
        ++begin;
    const char* end = sample.data() + sample.size();
    for (const char* p = sample.data() + begin; p < end;) {
        const auto c = decodeChar(p, end);
        const bool isCut = end - p < static_cast<std::ptrdiff_t>(kLongest) && static_cast<unsigned char>(*p) >= 0xC2
            && std::all_of(p + 1, end, isContinuation);
        if (c.codePoint != kInvalidByte)
            counts.characters += c.sizeBytes > 1 ? 1 : 0;
        else if (isCut)
            return;
        else
            ++counts.broken;
        p += c.sizeBytes;
    }
}

/// A single byte is a single character.
bool isSingleByte(const std::string& encoding)
{
    const auto converter = openConverter(encoding);
    return converter && ucnv_getMaxCharSize(converter.get()) == 1;
}

std::string decoded(std::string_view bytes, const std::string& encoding)
{
    UErrorCode error = U_ZERO_ERROR;
    std::string text(4 * bytes.size() + 1, '\0');
    const auto size = ucnv_convert("UTF-8", encoding.c_str(), text.data(), static_cast<std::int32_t>(text.size()),
        bytes.data(), static_cast<std::int32_t>(bytes.size()), &error);
    text.resize(U_SUCCESS(error) ? static_cast<std::size_t>(size) : 0);
    return text;
}

/// The first word that two encodings of single bytes read differently.
std::string_view differingWord(std::string_view bytes, const std::string& one, const std::string& other)
{
    constexpr std::size_t kLongest = 40;
    constexpr std::string_view kBetween = " \t\r\n\"',;.:()<>[]{}";
    while (!bytes.empty()) {
        const auto word = bytes.substr(0, bytes.find_first_of(kBetween));
        const bool isAscii = std::all_of(word.begin(), word.end(), [](char c) { return (c & 0x80) == 0; });
        if (!isAscii && word.size() <= kLongest && decoded(word, one) != decoded(word, other))
            return word;
        bytes.remove_prefix(std::min(bytes.size(), word.size() + 1));
    }
    return {};
}

/// Which of windows-1252 and ISO-8859-2 the letters speak for, where bytes differ in the two; "": neither. In a text
/// that is mostly ASCII, ICU decides between them by the ASCII letters.
std::string encodingOfLetters(std::string_view bytes)
{
    constexpr std::string_view kCentralOnly = "\xb1\xb3\xb5\xb6\xb9\xba\xbb\xbc\xbe"; // in words; else signs
    constexpr std::string_view kHungarian = "\xd5\xdb\xf5\xfb"; // all that it has of its own
    constexpr std::size_t kOften = 20; // one in so many, in languages that write these letters
    const auto isLetter = [](char c) {
        return std::isalpha(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0xc0;
    };
    std::size_t others = 0;
    std::size_t central = 0;
    bool differs = false;
    for (std::size_t i = 1; i + 1 < bytes.size(); ++i) {
        const auto u = static_cast<unsigned char>(bytes[i]);
        if (u < 0x80)
            continue;
        if (u < 0xa0) // ISO-8859-2 has no characters here
            return "";
        ++others;
        const bool isInWord = isLetter(bytes[i - 1]) && isLetter(bytes[i + 1]);
        central += isInWord && kCentralOnly.find(bytes[i]) != std::string_view::npos ? 1 : 0;
        const auto letter = bytes.substr(i, 1);
        differs = differs
            || (isLetter(bytes[i]) && kHungarian.find(bytes[i]) == std::string_view::npos
                && decoded(letter, kWestern) != decoded(letter, kCentral));
    }
    return central > 0 && central * kOften >= others ? kCentral : differs && central == 0 ? kWestern : "";
}

EncodingGuess likelyEncoding(const std::string& bytes)
{
    constexpr int kSure = 40; ///< prose of one language in its own encoding reaches this, lists of names do not
    UErrorCode error = U_ZERO_ERROR;
    const std::unique_ptr<UCharsetDetector, CloseDetector> detector(ucsdet_open(&error));
    ucsdet_setText(detector.get(), bytes.data(), static_cast<std::int32_t>(bytes.size()), &error);
    std::int32_t count = 0;
    const UCharsetMatch** matches = ucsdet_detectAll(detector.get(), &count, &error);
    const int best = U_SUCCESS(error) && count > 0 ? ucsdet_getConfidence(matches[0], &error) : 0;
    if (U_FAILURE(error) || best < kLikely)
        return { "", true };
    const auto nameOf = [&error](const UCharsetMatch* match) {
        const char* name = ucsdet_getName(match, &error);
        const std::string known = U_SUCCESS(error) && name != nullptr ? name : "";
        if (!openConverter(known))
            return std::string(); // ICU finds more than it converts
        return known == "ISO-8859-1" ? kWestern : withItsExtension(known); // the same characters and some more
    };
    EncodingGuess guess { nameOf(matches[0]) };
    const int nearly = best / (best < kSure ? 3 : 2); // from here on another one is worth a word
    if (guess.encoding.empty() || guess.encoding == "UTF-8" || isWideEncoding(guess.encoding))
        return { "", true };
    for (std::int32_t i = 1; i < count && guess.other.empty() && isSingleByte(guess.encoding); ++i) {
        const std::string other = nameOf(matches[i]);
        if (ucsdet_getConfidence(matches[i], &error) < nearly || other.empty() || !isSingleByte(other))
            continue;
        const auto word = differingWord(bytes, guess.encoding, other);
        if (!word.empty())
            guess = { guess.encoding, false, other, decoded(word, guess.encoding), decoded(word, other) };
    }
    if (guess.encoding != kWestern && guess.encoding != kCentral)
        return guess;
    if (const auto letters = encodingOfLetters(bytes); !letters.empty() && letters != guess.encoding) {
        const auto word = differingWord(bytes, letters, guess.encoding);
        guess = { letters, false, guess.encoding, decoded(word, letters), decoded(word, guess.encoding) };
    }
    return guess;
}

/// The lines that are not ASCII alone: by the others ICU would judge a language that these are not in.
std::string linesWithOthers(std::string_view text)
{
    std::string lines;
    while (!text.empty()) {
        const auto line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
        if (std::any_of(line.begin(), line.end(), [](char c) { return (c & 0x80) != 0; }))
            lines += line;
        text.remove_prefix(line.size());
    }
    return lines;
}

constexpr UChar kEuro = 0x20AC;
constexpr UChar kNoCharacter = 0xDC00; ///< between the two conversions; no text has it alone

/// For bytes that the encoding does not have. ICU itself puts U+001A or U+FFFD for them, and nobody would know.
/// @param context  what a lone 0x80 is; null: such a byte too
void U_CALLCONV markBroken(const void* context, UConverterToUnicodeArgs* to, const char* bytes, std::int32_t size,
    UConverterCallbackReason reason, UErrorCode* error)
{
    if (reason > UCNV_IRREGULAR) // it is opened, closed or copied
        return;
    *error = U_ZERO_ERROR;
    const bool isKnown = context != nullptr && size == 1 && bytes[0] == '\x80';
    ucnv_cbToUWriteUChars(to, isKnown ? static_cast<const UChar*>(context) : &kNoCharacter, 1, 0, error);
}

/// They become a byte that is no UTF-8, which is counted and told as in a text that was UTF-8 from the beginning.
void U_CALLCONV writeBroken(const void* /*context*/, UConverterFromUnicodeArgs* to, const UChar* /*units*/,
    std::int32_t /*size*/, UChar32 /*character*/, UConverterCallbackReason reason, UErrorCode* error)
{
    if (reason > UCNV_IRREGULAR)
        return;
    *error = U_ZERO_ERROR;
    ucnv_cbFromUWriteBytes(to, "\xff", 1, 0, error);
}

class TextStream : public ByteStream {
public:
    explicit TextStream(std::string_view text)
        : rest_(text)
    {
    }
    Result<std::size_t> read(std::span<char> into) override
    {
        const std::size_t size = rest_.copy(into.data(), into.size());
        rest_.remove_prefix(size);
        return size;
    }

private:
    std::string_view rest_;
};

class DecodedStream : public ByteStream {
public:
    DecodedStream(std::unique_ptr<ByteStream> stream, const std::string& encoding)
        : stream_(std::move(stream))
        , from_(openConverter(encoding))
        , to_(openConverter("UTF-8"))
        , in_(kPiece)
        , pivot_(kPiece)
        , pivotSource_(pivot_.data())
        , pivotTarget_(pivot_.data())
    {
        UErrorCode error = U_ZERO_ERROR;
        if (from_ && to_) {
            ucnv_setToUCallBack(
                from_.get(), markBroken, encoding == kChinese ? &kEuro : nullptr, nullptr, nullptr, &error);
            ucnv_setFromUCallBack(to_.get(), writeBroken, nullptr, nullptr, nullptr, &error);
        }
    }
    Result<std::size_t> read(std::span<char> into) override
    {
        if (!from_ || !to_)
            return Error { ErrorCode::Internal, sentence("ICU has lost a converter") };
        char* out = into.data();
        while (out == into.data() && !done_) {
            if (begin_ == end_ && !atEnd_) {
                FURROW_TRY_ASSIGN(auto n, stream_->read(in_));
                begin_ = in_.data();
                end_ = begin_ + n;
                atEnd_ = n == 0;
            }
            UErrorCode error = U_ZERO_ERROR;
            ucnv_convertEx(to_.get(), from_.get(), &out, into.data() + into.size(), &begin_, end_, pivot_.data(),
                &pivotSource_, &pivotTarget_, pivot_.data() + pivot_.size(), static_cast<UBool>(isFirst_),
                static_cast<UBool>(atEnd_), &error);
            isFirst_ = false;
            if (U_FAILURE(error) && error != U_BUFFER_OVERFLOW_ERROR)
                return Error { ErrorCode::Internal, sentence("ICU cannot convert: %1", { u_errorName(error) }) };
            done_ = atEnd_ && error != U_BUFFER_OVERFLOW_ERROR;
        }
        return static_cast<std::size_t>(out - into.data());
    }

private:
    static constexpr std::size_t kPiece = 64 << 10;

    std::unique_ptr<ByteStream> stream_;
    Converter from_;
    Converter to_;
    std::vector<char> in_;
    std::vector<UChar> pivot_;
    UChar* pivotSource_;
    UChar* pivotTarget_;
    const char* begin_ = nullptr;
    const char* end_ = nullptr;
    bool isFirst_ = true;
    bool atEnd_ = false;
    bool done_ = false;
};

} // namespace

bool isWideEncoding(std::string_view encoding)
{
    return encoding.starts_with("UTF-16") || encoding.starts_with("UTF-32");
}

EncodingGuess guessEncoding(std::span<const std::string> samples)
{
    if (samples.empty())
        return {};
    if (auto marked = markedEncoding(samples.front()); !marked.empty())
        return { std::move(marked) };
    if (auto wide = wideWithoutMark(samples.front()); !wide.empty())
        return { std::move(wide) };
    Utf8Count counts;
    std::string suspicious; // ICU judges by what is no ASCII
    for (const auto& sample : samples) {
        const auto before = counts.broken;
        count(sample, &sample == samples.data(), counts);
        if (counts.broken > before)
            suspicious += sample;
    }
    if (counts.broken == 0)
        return {};
    if (counts.characters > counts.broken || counts.broken < kEvidence)
        return { "", true };
    return likelyEncoding(suspicious);
}

Result<std::string> encodingOfBroken(ByteStream& text)
{
    constexpr std::size_t kPieceBytes = 64 << 10;
    constexpr std::uint64_t kMostBytes = 64 << 20;
    constexpr std::size_t kEnough = 32;
    std::vector<std::string> samples { std::string() }; // it has no beginning with a mark
    std::string piece(kPieceBytes, '\0');
    for (std::uint64_t at = 0; at < kMostBytes && samples.size() <= kEnough; at += kPieceBytes) {
        FURROW_TRY_ASSIGN(const auto size, readFully(text, piece));
        Utf8Count counts;
        count(std::string_view(piece).substr(0, size), false, counts);
        if (counts.broken > 0)
            samples.push_back(linesWithOthers(std::string_view(piece).substr(0, size)));
        if (size < kPieceBytes)
            break;
    }
    return guessEncoding(samples).encoding;
}

Result<std::string> encodingNamed(const std::string& name)
{
    const auto converter = openConverter(name);
    UErrorCode error = U_ZERO_ERROR;
    const char* canonical = converter && !name.empty() ? ucnv_getName(converter.get(), &error) : nullptr;
    if (canonical == nullptr || U_FAILURE(error))
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "There is no encoding '%1'. Known are utf-8, utf-16le, windows-1252, shift_jis, gb18030 and the others that ICU has.",
                { name }) };
    std::string found = canonical; // ICU's own name of windows-1252 is ibm-5348_P100-1997
    if (withItsExtension(canonical) != found)
        return withItsExtension(canonical);
    for (const char* standard : { "IANA", "MIME" }) {
        error = U_ZERO_ERROR;
        const char* usual = ucnv_getStandardName(canonical, standard, &error);
        if (usual != nullptr && U_SUCCESS(error))
            found = usual;
    }
    return found == "UTF-8" || found == "US-ASCII" ? std::string() : found;
}

std::string encodingInWords(const std::string& encoding) { return encoding == kChinese ? "GB18030" : encoding; }

std::unique_ptr<ByteStream> decodedStream(std::unique_ptr<ByteStream> stream, const std::string& encoding)
{
    return std::make_unique<DecodedStream>(std::move(stream), encoding);
}

std::string decodedText(std::string_view bytes, const std::string& encoding)
{
    DecodedStream stream(std::make_unique<TextStream>(bytes), encoding);
    std::string text;
    std::array<char, 16 << 10> piece;
    for (;;) {
        const auto size = stream.read(piece);
        if (!size.ok())
            return std::string(bytes);
        if (size.value() == 0)
            return text;
        text.append(piece.data(), size.value());
    }
}

} // namespace furrow
