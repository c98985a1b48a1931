#include "core/base/hash.h"
#include "core/base/sentence.h"
#include "core/data/tokenizer/simple_tokenizers.h"
#include "core/data/tokenizer/unicode_classes.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <unordered_map>

namespace furrow {

namespace {

constexpr TokenId kNone = UINT32_MAX;

constexpr std::pair<CharFallback, const char*> kFallbackNames[] = { { CharFallback::Bytes, "bytes" },
    { CharFallback::Unknown, "unknown" }, { CharFallback::EndOfText, "end_of_text" } };

const char* fallbackName(CharFallback fallback)
{
    return std::find_if(std::begin(kFallbackNames), std::end(kFallbackNames), [fallback](const auto& named) {
        return named.first == fallback;
    })->second;
}

class CharTokenizer final : public Tokenizer {
public:
    /// @param codePoints  ascending, distinct
    CharTokenizer(std::vector<char32_t> codePoints, CharFallback fallback)
        : codePoints_(std::move(codePoints))
        , fallback_(fallback)
    {
        ascii_.fill(kNone);
        for (TokenId id = 0; id < codePoints_.size(); ++id) {
            const auto c = codePoints_[id];
            if (c < ascii_.size())
                ascii_[c] = id;
            else
                others_.emplace(c, id);
        }
        definition_ = nlohmann::json {
            { "furrow_tokenizer", "char" }, { "version", 1 }, { "fallback", fallbackName(fallback_) },
            { "code_points", codePoints_ }
        }.dump();
        hash_ = sha256Hex(definition_);
    }

    std::string name() const override { return "char"; }
    std::string hash() const override { return hash_; }
    std::uint32_t vocabularySize() const override
    {
        return endOfText() + 1 + (fallback_ == CharFallback::Bytes ? 256 : fallback_ == CharFallback::Unknown ? 1 : 0);
    }
    std::optional<TokenId> unknownToken() const override
    {
        return fallback_ == CharFallback::Unknown ? std::optional(endOfText() + 1) : std::nullopt;
    }
    TokenId endOfText() const override { return static_cast<TokenId>(codePoints_.size()); }
    std::string definition() const override { return definition_; }

    Status encode(std::string_view text, std::vector<TokenId>& out) const override
    {
        const char* end = text.data() + text.size();
        for (const char* p = text.data(); p < end;) {
            const auto c = decodeChar(p, end);
            const auto id = idOf(c.codePoint);
            if (id != kNone)
                out.push_back(id);
            else
                appendUnknown({ p, c.sizeBytes }, out);
            p += c.sizeBytes;
        }
        return {};
    }

    std::string decode(std::span<const TokenId> ids) const override
    {
        std::string out;
        for (const auto id : ids) {
            if (id < codePoints_.size())
                appendUtf8(out, codePoints_[id]);
            else if (id == unknownToken())
                appendUtf8(out, U'\uFFFD');
            else if (id > endOfText() && id < vocabularySize())
                out.push_back(static_cast<char>(id - endOfText() - 1));
        }
        return out;
    }

private:
    void appendUnknown(std::string_view bytes, std::vector<TokenId>& out) const
    {
        if (fallback_ == CharFallback::Unknown)
            return out.push_back(endOfText() + 1);
        for (const char byte : bytes)
            out.push_back(
                fallback_ == CharFallback::Bytes ? endOfText() + 1 + static_cast<unsigned char>(byte) : endOfText());
    }
    TokenId idOf(char32_t c) const
    {
        if (c < ascii_.size())
            return ascii_[c];
        const auto at = others_.find(c);
        return at == others_.end() ? kNone : at->second;
    }

    // set in the constructor, then constant
    std::vector<char32_t> codePoints_;
    CharFallback fallback_;
    std::array<TokenId, 128> ascii_ {};
    std::unordered_map<char32_t, TokenId> others_;
    std::string definition_;
    std::string hash_;
};

} // namespace

Result<std::shared_ptr<const Tokenizer>> buildCharTokenizer(
    const std::function<bool(std::string_view&)>& nextText, CharFallback fallback)
{
    std::vector<bool> seen(kInvalidByte + 1);
    std::string_view text;
    while (nextText(text)) {
        const char* end = text.data() + text.size();
        for (const char* p = text.data(); p < end;) {
            const auto c = decodeChar(p, end);
            seen[c.codePoint] = true;
            p += c.sizeBytes;
        }
    }
    std::vector<char32_t> codePoints;
    for (char32_t c = 0; c < kInvalidByte; ++c) {
        if (seen[c])
            codePoints.push_back(c);
    }
    if (codePoints.empty())
        return Error { ErrorCode::InvalidArgument,
            sentence("the text has no characters to make a character tokenizer of; use the tokenizer byte") };
    const bool keepsBytes = fallback == CharFallback::Unknown && seen[kInvalidByte];
    return std::shared_ptr<const Tokenizer>(
        std::make_shared<CharTokenizer>(std::move(codePoints), keepsBytes ? CharFallback::Bytes : fallback));
}

bool isCharDefinition(std::string_view definition)
{
    return definition.starts_with('{')
        && definition.substr(0, 32u << 20).find("\"furrow_tokenizer\"") != std::string_view::npos;
}

Result<std::shared_ptr<const Tokenizer>> readCharTokenizer(std::string_view definition)
{
    const auto json = nlohmann::json::parse(definition, nullptr, false);
    const auto corrupt
        = [](const Message& why) { return Error { ErrorCode::Corrupt, sentence("character tokenizer: %1", { why }) }; };
    if (!json.is_object() || json.value("furrow_tokenizer", nlohmann::json()) != "char")
        return corrupt(sentence("it is not a definition of one"));
    if (json.value("version", nlohmann::json()) != 1)
        return corrupt(sentence("its version is not 1; a newer Furrow wrote it"));
    const auto fallback = json.value("fallback", nlohmann::json());
    const auto list = json.value("code_points", nlohmann::json());
    const auto* named = std::find_if(std::begin(kFallbackNames), std::end(kFallbackNames),
        [&](const auto& known) { return fallback == known.second; });
    if (named == std::end(kFallbackNames) || !list.is_array() || list.empty())
        return corrupt(sentence("fallback or code_points is missing"));
    std::vector<char32_t> codePoints;
    for (const auto& c : list) {
        const bool valid
            = c.is_number_unsigned() && c.get<std::uint64_t>() < kInvalidByte && (c < 0xD800 || c > 0xDFFF);
        if (!valid || (!codePoints.empty() && c.get<char32_t>() <= codePoints.back()))
            return corrupt(sentence("code_points must be ascending code points"));
        codePoints.push_back(c.get<char32_t>());
    }
    return std::shared_ptr<const Tokenizer>(std::make_shared<CharTokenizer>(std::move(codePoints), named->first));
}

} // namespace furrow
