#include "core/data/tokenizer/normalizer.h"

#include "core/base/sentence.h"
#include "core/data/tokenizer/byte_alphabet.h"
#include "core/data/tokenizer/reference_characters.h"
#include "core/data/tokenizer/unicode_classes.h"

#include <algorithm>
#include <array>

namespace furrow {

namespace {

/// Steps of an untrusted file may double a text again and again.
constexpr std::size_t kGrowth = 64;
constexpr std::size_t kGrowthBytes = 1u << 20;

/// The text that a step makes of another.
struct Change {
    std::string_view from;
    std::string out;
    bool changed = true;
    bool keepsStart = true;
    std::size_t mostBytes = 0;
};

Error grows()
{
    return { ErrorCode::InvalidArgument, sentence("the normalizer makes the text more than 64 times as long") };
}

/// Calls `each(codePoint, bytes)` for each character, and for each byte that is none (kInvalidByte).
template <typename Each> void forEachCharacter(std::string_view text, Each each)
{
    const char* end = text.data() + text.size();
    for (const char* p = text.data(); p < end;) {
        const auto c = decodeChar(p, end);
        each(c.codePoint, std::string_view(p, c.sizeBytes));
        p += c.sizeBytes;
    }
}

/// Keeps the characters that `keep` wants.
template <typename Keep> void filter(Change& change, Keep keep)
{
    forEachCharacter(change.from, [&](char32_t c, std::string_view bytes) {
        if (keep(c))
            change.out += bytes;
        else if (change.out.empty())
            change.keepsStart = false;
    });
}

Status apply(UnicodeForm form, Change& change)
{
    change.changed = applyForm(form, change.from, change.out);
    return {};
}

Status apply(const PrependText& step, Change& change)
{
    change.changed = !change.from.empty();
    change.out.append(step.text).append(change.from);
    return {};
}

Status apply(const ReplaceText& step, Change& change)
{
    std::size_t done = 0;
    const auto replace = [&](std::size_t begin, std::size_t end) {
        if (change.out.size() > change.mostBytes)
            return;
        const auto first = change.from.substr(begin, end - begin);
        if (begin == 0 && !first.empty()) // what comes in the place of several characters stands for the last
            change.keepsStart
                = !step.to.empty() && decodeChar(first.data(), first.data() + first.size()).sizeBytes == first.size();
        change.out.append(change.from.substr(done, begin - done)).append(step.to);
        done = end;
    };
    if (step.pattern) {
        FURROW_TRY(step.pattern->forEachMatch(change.from, replace));
    } else {
        for (auto at = change.from.find(step.from); at != std::string_view::npos;
            at = change.from.find(step.from, at + step.from.size()))
            replace(at, at + step.from.size());
    }
    if (change.out.size() > change.mostBytes)
        return grows();
    change.out.append(change.from.substr(done));
    return {};
}

void appendLowered(std::string_view text, std::string& out)
{
    forEachCharacter(text, [&](char32_t c, std::string_view bytes) {
        if (c < 0x80)
            out.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c | 32) : static_cast<char>(c));
        else if (c == kInvalidByte)
            out += bytes;
        else
            appendLower(out, c);
    });
}

Status apply(const LowercaseText&, Change& change)
{
    appendLowered(change.from, change.out);
    return {};
}

Status apply(const StripSpaces& step, Change& change)
{
    std::size_t begin = change.from.size();
    std::size_t end = 0;
    forEachCharacter(change.from, [&](char32_t c, std::string_view bytes) {
        if (isReferenceSpace(c))
            return;
        const auto at = static_cast<std::size_t>(bytes.data() - change.from.data());
        begin = std::min(begin, at);
        end = at + bytes.size();
    });
    begin = step.left ? begin : 0;
    end = step.right ? std::max(begin, end) : change.from.size();
    change.keepsStart = begin == 0;
    change.out = change.from.substr(begin, end - begin);
    return {};
}

Status apply(const StripAccents&, Change& change)
{
    filter(change, [](char32_t c) { return !isReferenceCombining(c); });
    return {};
}

bool isChinese(char32_t c)
{
    constexpr std::pair<char32_t, char32_t> kBlocks[]
        = { { 0x4E00, 0x9FFF }, { 0x3400, 0x4DBF }, { 0x20000, 0x2A6DF }, { 0x2A700, 0x2B73F }, { 0x2B740, 0x2B81F },
              { 0x2B920, 0x2CEAF }, { 0xF900, 0xFAFF }, { 0x2F800, 0x2FA1F } }; // as BERT has them
    return std::any_of(std::begin(kBlocks), std::end(kBlocks),
        [c](const auto& block) { return c >= block.first && c <= block.second; });
}

Status apply(const BertText& step, Change& change)
{
    forEachCharacter(change.from, [&](char32_t c, std::string_view bytes) {
        if (step.clean && isReferenceControl(c)) {
            change.keepsStart = change.keepsStart && !change.out.empty();
            return;
        }
        if (step.clean && isReferenceSpace(c))
            change.out += ' ';
        else if (step.chinese && isChinese(c))
            change.out.append(" ").append(bytes).append(" ");
        else
            change.out += bytes;
    });
    if (step.accents) {
        std::string apart;
        if (!applyForm(UnicodeForm::Nfd, change.out, apart))
            apart = change.out;
        change.out.clear();
        Change accents { apart, {}, true, true, 0 };
        filter(accents, [](char32_t c) { return !isReferenceAccent(c); });
        change.keepsStart = change.keepsStart && accents.keepsStart;
        change.out = std::move(accents.out);
    }
    if (step.lowercase) {
        std::string lower;
        appendLowered(change.out, lower);
        change.out = std::move(lower);
    }
    return {};
}

Status apply(const NmtText&, Change& change)
{
    const auto isDropped = [](char32_t c) {
        return (c >= 1 && c <= 8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F;
    };
    const auto isBlank = [](char32_t c) {
        constexpr std::array<char32_t, 10> kBlank { 9, 0xA, 0xC, 0xD, 0x1680, 0x2028, 0x2029, 0x2581, 0xFEFF, 0xFFFD };
        return (c >= 0x200B && c <= 0x200F) || std::find(kBlank.begin(), kBlank.end(), c) != kBlank.end();
    };
    forEachCharacter(change.from, [&](char32_t c, std::string_view bytes) {
        if (isDropped(c))
            change.keepsStart = change.keepsStart && !change.out.empty();
        else
            change.out.append(isBlank(c) ? " " : bytes);
    });
    return {};
}

Status apply(const PrecompiledText& step, Change& change)
{
    // Piecewise, so that a text that grows is noticed; a cut behind an ASCII letter or space is none between what
    // belongs together.
    constexpr std::size_t kPiece = 1u << 16;
    auto rest = change.from;
    while (!rest.empty()) {
        auto size = std::min(rest.size(), kPiece);
        const auto isApart = [&](std::size_t at) {
            return rest[at - 1] >= ' ' && rest[at - 1] < 0x7F && rest[at] >= ' ' && rest[at] < 0x7F;
        };
        while (size < rest.size() && !isApart(size))
            ++size;
        step.charsmap->apply(rest.substr(0, size), change.out);
        rest.remove_prefix(size);
        if (change.out.size() > change.mostBytes)
            return grows();
    }
    return {};
}

Status apply(const ByteLevelText&, Change& change)
{
    change.out = alphabetOfBytes(change.from);
    return {};
}

} // namespace

Status normalize(const std::vector<NormalizerStep>& steps, std::string_view text, NormalizedText& out)
{
    out.text = text;
    const auto mostBytes = text.size() * kGrowth + kGrowthBytes;
    for (const auto& step : steps) {
        Change change { out.text, {}, true, true, mostBytes };
        FURROW_TRY(std::visit([&](const auto& s) { return apply(s, change); }, step));
        if (change.out.size() > mostBytes)
            return grows();
        if (!change.changed)
            continue;
        out.keepsStart = out.keepsStart && change.keepsStart;
        out.storage = std::move(change.out);
        out.text = out.storage;
    }
    return {};
}

} // namespace furrow
