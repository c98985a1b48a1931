#include "core/data/tokenizer/pipeline_tokenizer.h"

#include "core/base/hash.h"
#include "core/base/sentence.h"
#include "core/data/tokenizer/bpe_model.h"
#include "core/data/tokenizer/piece_encoder.h"
#include "core/data/tokenizer/splitters.h"

#include <algorithm>
#include <atomic>
#include <unordered_map>

namespace furrow {

namespace {

/// One cache per thread and tokenizer, for the two tokenizers the thread used last.
WordCache& threadCache(std::uint64_t owner)
{
    struct Slot {
        std::uint64_t owner = 0;
        std::unique_ptr<WordCache> cache;
    };
    thread_local Slot slots[2];
    if (slots[0].owner != owner) {
        std::swap(slots[0], slots[1]);
        if (slots[0].owner != owner)
            slots[0] = { owner, std::make_unique<WordCache>() };
    }
    return *slots[0].cache;
}

std::uint64_t nextOwner()
{
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
}

/// The pattern when the whole pre-tokenizer is one hand-written splitter, so that no list of segments is needed.
std::optional<SplitPattern> directPattern(const std::vector<PreTokenizerStep>& steps)
{
    if (steps.empty() || steps.size() > 2)
        return {};
    const auto* last = std::get_if<ByteLevelStep>(&steps.back());
    if (steps.size() == 1 && last && !last->addPrefixSpace && last->useRegex)
        return SplitPattern::Gpt2;
    const auto* split = std::get_if<SplitStep>(&steps.front());
    const bool byteLevelOnly = steps.size() == 1 || (last && !last->addPrefixSpace && !last->useRegex);
    // The hand-written patterns match everything, so inverting them or joining matches is not worth a second way.
    if (!split || !byteLevelOnly || split->invert || split->behaviour != SplitBehaviour::Isolated
        || split->pattern == SplitPattern::Regex || split->pattern == SplitPattern::Literal)
        return {};
    return split->pattern;
}

/// A step may leave nothing of a text.
bool takesAway(const TokenizerSpec& spec)
{
    const auto keeps = [](const PreTokenizerStep& step) {
        const auto* split = std::get_if<SplitStep>(&step);
        return std::holds_alternative<ByteLevelStep>(step) || std::holds_alternative<DigitsStep>(step)
            || (split && split->behaviour != SplitBehaviour::Removed);
    };
    const auto keepsForm = [](const NormalizerStep& step) { return std::holds_alternative<UnicodeForm>(step); };
    return !std::all_of(spec.preTokenizer.begin(), spec.preTokenizer.end(), keeps)
        || !std::all_of(spec.normalizer.begin(), spec.normalizer.end(), keepsForm);
}

class PipelineTokenizer final : public Tokenizer {
public:
    PipelineTokenizer(TokenizerSpec spec, std::string name)
        : spec_(std::move(spec))
        , name_(std::move(name))
        , direct_(spec_.byteLevel ? directPattern(spec_.preTokenizer) : std::nullopt)
    {
        size_ = static_cast<std::uint32_t>(spec_.model->tokens.size());
        dropsText_ = !spec_.byteLevel || spec_.model->dropsCharacters() || takesAway(spec_);
        endOfText_ = findEndOfText();
        hash_ = makeHash();
    }

    /// An error: an added token cannot be normalized.
    Status findAddedTokens()
    {
        std::vector<AddedToken> raw;
        std::vector<AddedToken> normalizedTokens;
        for (auto token : spec_.addedTokens) {
            if (!token.normalized) {
                raw.push_back(std::move(token));
                continue;
            }
            NormalizedText text;
            FURROW_TRY(normalize(spec_.normalizer, token.content, text));
            if (text.text != token.content)
                normalizedTexts_[token.id] = text.text;
            token.content = std::string(text.text);
            normalizedTokens.push_back(std::move(token));
        }
        rawAdded_ = AddedTokenFinder(std::move(raw));
        normalizedAdded_ = AddedTokenFinder(std::move(normalizedTokens));
        return {};
    }

    std::string name() const override { return name_; }
    std::string hash() const override { return hash_; }
    std::uint32_t vocabularySize() const override { return std::max(size_, endOfText_ + 1); }
    TokenId endOfText() const override { return endOfText_; }
    std::optional<TokenId> unknownToken() const override { return spec_.model->unknown; }
    std::string definition() const override { return spec_.definition; }
    bool dropsText() const override { return dropsText_; }
    std::int64_t dropped(std::string_view text, bool matchesSpecial) const override
    {
        std::int64_t count = 0;
        if (!spec_.model->dropsCharacters())
            return count;
        std::vector<TokenId> ids;
        PieceEncoder encoder(*spec_.model, threadCache(owner_), ids, &count);
        // What encode() refuses has no count either.
        return encodeText(text, matchesSpecial, encoder).ok() ? count : 0;
    }

    Status encode(std::string_view text, std::vector<TokenId>& out) const override
    {
        return encodeText(text, out, false);
    }
    Status encodeMatchingSpecial(std::string_view text, std::vector<TokenId>& out) const override
    {
        return encodeText(text, out, true);
    }

    std::string decode(std::span<const TokenId> ids) const override
    {
        std::string out;
        std::vector<std::string> tokens;
        for (const auto id : ids) {
            const auto normal = normalizedTexts_.find(id);
            if (spec_.byteLevel)
                out += normal != normalizedTexts_.end() ? std::string_view(normal->second) : spec_.model->bytesOf(id);
            else if (id < spec_.model->tokens.size() && spec_.model->tokens[id].known)
                tokens.push_back(normal != normalizedTexts_.end() ? normal->second : spec_.model->tokenText(id));
        }
        return spec_.byteLevel ? out : decodeTokens(spec_.decoder, std::move(tokens));
    }

private:
    TokenId findEndOfText() const
    {
        for (const std::string_view wanted : { "<|endoftext|>", "<|end_of_text|>",
                 "<\xEF\xBD\x9C"
                 "end\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C>",
                 "</s>", "<eos>", "<|im_end|>", "<EOT>" }) {
            for (const auto& token : spec_.addedTokens) {
                if (token.content == wanted)
                    return token.id;
            }
        }
        for (const auto& token : spec_.addedTokens) {
            if (token.content == "[SEP]" && dynamic_cast<const BpeModel*>(spec_.model.get()) == nullptr) // BERT's
                return token.id;
        }
        return size_; // the file has none: one more id
    }

    std::string makeHash() const
    {
        Sha256 sha;
        sha.update("furrow bpe 1\n");
        sha.update(spec_.settings);
        for (const auto& token : spec_.model->tokens) {
            const std::uint32_t size = token.known ? token.size : UINT32_MAX;
            const std::uint8_t bytes[4]
                = { std::uint8_t(size), std::uint8_t(size >> 8), std::uint8_t(size >> 16), std::uint8_t(size >> 24) };
            sha.update(bytes, sizeof bytes);
            sha.update(std::string_view(spec_.model->arena).substr(token.offset, token.size));
        }
        return sha.hex();
    }

    Status encodeText(std::string_view text, std::vector<TokenId>& out, bool special) const
    {
        PieceEncoder encoder(*spec_.model, threadCache(owner_), out);
        FURROW_TRY(encodeText(text, special, encoder));
        return encoder.status();
    }

    Status encodeText(std::string_view text, bool special, PieceEncoder& encoder) const
    {
        if (rawAdded_.empty() || (!special && !rawAdded_.hasPlain()))
            return encodeNormalized(text, true, special, encoder);
        for (const auto& piece : rawAdded_.split(text, special)) {
            if (piece.id != AddedTokenFinder::kNoAddedToken)
                encoder.id(piece.id);
            else if (auto status = encodeNormalized(piece.text, piece.text.data() == text.data(), special, encoder);
                !status.ok())
                return status;
        }
        return {};
    }

    Status encodeNormalized(std::string_view raw, bool atStart, bool special, PieceEncoder& encoder) const
    {
        NormalizedText normal;
        FURROW_TRY(normalize(spec_.normalizer, raw, normal));
        atStart = atStart && normal.keepsStart;
        const auto text = normal.text;
        if (normalizedAdded_.empty() || (!special && !normalizedAdded_.hasPlain()))
            return encodePlain(text, atStart, encoder);
        for (const auto& piece : normalizedAdded_.split(text, special)) {
            if (piece.id != AddedTokenFinder::kNoAddedToken)
                encoder.id(piece.id);
            else if (auto status = encodePlain(piece.text, atStart && piece.text.data() == text.data(), encoder);
                !status.ok())
                return status;
        }
        return {};
    }

    Status encodePlain(std::string_view text, bool atStart, PieceEncoder& encoder) const
    {
        if (direct_ == SplitPattern::Gpt2)
            return encodeDirect<Gpt2Split>(text, encoder);
        if (direct_ == SplitPattern::Cl100k)
            return encodeDirect<ModernSplit<3, false>>(text, encoder);
        if (direct_ == SplitPattern::Cl100kWholeTail)
            return encodeDirect<ModernSplit<3, true>>(text, encoder);
        if (direct_ == SplitPattern::Qwen2)
            return encodeDirect<ModernSplit<1, false>>(text, encoder);
        SegmentArena arena;
        std::vector<TextSegment> segments { { text, atStart } };
        for (const auto& step : spec_.preTokenizer)
            FURROW_TRY(applyStep(step, segments, arena));
        for (const auto& segment : segments) {
            if (segment.bytes.empty())
                continue;
            encoder.piece(segment.bytes.data(), segment.bytes.size(), segment.bytes.data() + segment.bytes.size());
        }
        return {};
    }

    template <typename Splitter> static Status encodeDirect(std::string_view text, PieceEncoder& encoder)
    {
        const Splitter splitter;
        const char* end = text.data() + text.size();
        for (const char* p = text.data(); p < end;) {
            const char* next = splitter.next(p, end);
            encoder.piece(p, static_cast<std::size_t>(next - p), end);
            p = next;
        }
        return {};
    }

    // set in the constructor, then constant
    TokenizerSpec spec_;
    std::string name_;
    std::string hash_;
    std::optional<SplitPattern> direct_;
    AddedTokenFinder rawAdded_;
    AddedTokenFinder normalizedAdded_;
    std::unordered_map<TokenId, std::string> normalizedTexts_; // of added tokens that the normalizer changes
    std::uint32_t size_ = 0;
    TokenId endOfText_ = 0;
    bool dropsText_ = false;
    const std::uint64_t owner_ = nextOwner();
};

} // namespace

Result<std::shared_ptr<const Tokenizer>> makePipelineTokenizer(TokenizerSpec spec, const std::string& name)
{
    if (spec.model->tokens.empty())
        return Error { ErrorCode::InvalidArgument, sentence("the vocabulary is empty") };
    auto made = std::make_shared<PipelineTokenizer>(std::move(spec), name);
    FURROW_TRY(made->findAddedTokens());
    return std::shared_ptr<const Tokenizer>(std::move(made));
}

} // namespace furrow
