#include "core/data/tokenizer/precompiled_charsmap.h"

#include "core/base/sentence.h"
#include "core/data/tokenizer/regex.h"
#include "core/data/tokenizer/unicode_classes.h"

namespace furrow {

namespace {

// A unit of darts-clone: https://github.com/s-yata/darts-clone, darts.h, DoubleArrayUnit.
bool hasLeaf(std::uint32_t unit) { return (unit >> 8 & 1) == 1; }
std::uint32_t valueOf(std::uint32_t unit) { return unit & 0x7FFFFFFFu; }
std::uint32_t labelOf(std::uint32_t unit) { return unit & 0x800000FFu; }
std::uint32_t offsetOf(std::uint32_t unit) { return unit >> 10 << ((unit & 0x200u) >> 6); }

constexpr std::size_t kLongestCluster = 5; // longer ones are looked up character by character
constexpr std::size_t kLongestTexts = 16u << 20;

const Regex& clusters()
{
    static const auto regex = Regex::compile("\\X").value();
    return *regex;
}

/// Between two ASCII characters there is always one, except inside of \\r\\n.
bool isBoundary(char before, char behind)
{
    const bool ascii = static_cast<unsigned char>(before) < 0x80 && static_cast<unsigned char>(behind) < 0x80;
    return ascii && !(before == '\r' && behind == '\n');
}

} // namespace

Result<std::shared_ptr<const PrecompiledCharsmap>> PrecompiledCharsmap::read(std::string_view packed)
{
    const auto byteAt = [&](std::size_t i) { return std::uint32_t { static_cast<std::uint8_t>(packed[i]) }; };
    const auto unitAt
        = [&](std::size_t i) { return byteAt(i) | byteAt(i + 1) << 8 | byteAt(i + 2) << 16 | byteAt(i + 3) << 24; };
    const auto corrupt = [](const Message& why) {
        return Error { ErrorCode::Corrupt, sentence("precompiled_charsmap: %1", { why }) };
    };
    const std::size_t size = packed.size() < 4 ? 0 : unitAt(0);
    if (size < 4 || size % 4 != 0 || size > packed.size() - 4 || packed.size() > kLongestTexts)
        return corrupt(sentence("its array is cut or too long"));
    std::shared_ptr<PrecompiledCharsmap> made(new PrecompiledCharsmap);
    for (std::size_t i = 4; i < size + 4; i += 4)
        made->units_.push_back(unitAt(i));
    made->texts_ = packed.substr(size + 4);
    const char* end = made->texts_.data() + made->texts_.size();
    for (const char* p = made->texts_.data(); p < end;) {
        const auto c = decodeChar(p, end);
        if (c.codePoint == kInvalidByte)
            return corrupt(sentence("its texts are not UTF-8"));
        p += c.sizeBytes;
    }
    return std::shared_ptr<const PrecompiledCharsmap>(std::move(made));
}

std::optional<std::string_view> PrecompiledCharsmap::replacement(std::string_view chunk) const
{
    std::size_t at = offsetOf(units_[0]);
    for (const char c : chunk) {
        const auto byte = static_cast<std::uint8_t>(c);
        at ^= byte;
        if (byte == 0 || at >= units_.size() || labelOf(units_[at]) != byte)
            return {};
        const bool leaf = hasLeaf(units_[at]);
        at ^= offsetOf(units_[at]);
        if (at >= units_.size())
            return {};
        if (leaf) {
            const auto begin = std::min<std::size_t>(valueOf(units_[at]), texts_.size());
            const auto text = std::string_view(texts_).substr(begin);
            return text.substr(0, text.find('\0'));
        }
    }
    return {};
}

void PrecompiledCharsmap::applyToCluster(std::string_view cluster, std::string& out) const
{
    if (cluster.size() <= kLongestCluster) {
        if (const auto other = replacement(cluster)) {
            out += *other;
            return;
        }
    }
    const char* end = cluster.data() + cluster.size();
    for (const char* p = cluster.data(); p < end;) {
        const std::string_view character(p, decodeChar(p, end).sizeBytes);
        out += replacement(character).value_or(character);
        p += character.size();
    }
}

void PrecompiledCharsmap::applyToClusters(std::string_view text, std::string& out) const
{
    std::size_t done = 0;
    (void)clusters().forEachMatch(
        text, [&](std::size_t begin, std::size_t end) { // \X never backtracks; what it leaves out is no UTF-8
            out.append(text.substr(done, begin - done));
            applyToCluster(text.substr(begin, end - begin), out);
            done = end;
        });
    out.append(text.substr(done));
}

void PrecompiledCharsmap::apply(std::string_view text, std::string& out) const
{
    while (!text.empty()) {
        std::size_t end = 1;
        while (end < text.size() && !isBoundary(text[end - 1], text[end]))
            ++end;
        if (end == 1)
            applyToCluster(text.substr(0, end), out);
        else
            applyToClusters(text.substr(0, end), out);
        text.remove_prefix(end);
    }
}

} // namespace furrow
