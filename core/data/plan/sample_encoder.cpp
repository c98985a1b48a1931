#include "core/data/plan/sample_encoder.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/chat/answer_pair.h"
#include "core/chat/pair_text.h"
#include "core/chat/row_problems.h"

#include <algorithm>

namespace furrow {

namespace {

/// Where each token ends in the text; empty where the bytes of the tokens are not the text.
std::vector<std::size_t> endsOf(std::string_view text, std::span<const TokenId> tokens, const Tokenizer& tokenizer)
{
    std::vector<std::size_t> ends;
    ends.reserve(tokens.size());
    std::size_t end = 0;
    for (const TokenId& token : tokens) {
        const std::string bytes = tokenizer.decode({ &token, 1 });
        if (bytes.empty() || text.substr(end, bytes.size()) != bytes)
            return {};
        end += bytes.size();
        ends.push_back(end);
    }
    return end == text.size() ? ends : std::vector<std::size_t> {};
}

struct Edge {
    std::size_t token = 0; ///< that has the edge in it or behind it
    bool isInside = false;
};

/// The edge of a stretch among the tokens, by those of the text before it.
Result<Edge> edgeAt(
    std::size_t place, std::string_view text, std::span<const TokenId> tokens, const Tokenizer& tokenizer)
{
    std::vector<TokenId> before;
    FURROW_TRY(tokenizer.encodeMatchingSpecial(text.substr(0, place), before));
    const auto same = std::mismatch(before.begin(), before.end(), tokens.begin(), tokens.end()).first - before.begin();
    const auto token = static_cast<std::size_t>(same);
    return Edge { token, token < before.size() && place < text.size() };
}

} // namespace

bool namesChatFile(const RunConfig& config)
{
    const auto& name = config.chatTemplate;
    return !name.empty() && name != "none" && name != "chatml";
}

std::vector<Message> unknownTokens(const ChatFormat& format, const Tokenizer& tokenizer)
{
    std::vector<Message> found;
    for (const auto& token : tokensWritten(format.source)) {
        std::vector<TokenId> ids;
        if (tokenizer.encodeMatchingSpecial(token, ids).ok() && ids.size() != 1)
            found.push_back(sentence(
                "The chat template writes %1, which the tokenizer does not have as a token: it becomes %2 tokens.",
                { token, std::to_string(ids.size()) }));
    }
    return found;
}

Result<std::optional<ChatFormat>> chatFormatOf(const RunConfig& config)
{
    if (config.chatTemplate == "chatml")
        return std::optional(ChatFormat { kChatMl, {}, 0 });
    if (!namesChatFile(config))
        return std::optional<ChatFormat>();
    return readChatFormat(pathFromUtf8(config.chatTemplate), pathFromUtf8(config.tokenizer).parent_path());
}

Result<SampleEncoder> SampleEncoder::open(
    const RunConfig& config, const DataManifest& manifest, const Tokenizer& tokenizer)
{
    SampleEncoder encoder;
    encoder.tokenizer_ = &tokenizer;
    encoder.turns_ = config.chatLoss;
    encoder.countsDropped_ = manifest.refusesNoTokens && tokenizer.dropsText();
    encoder.longSamples_ = config.longSamples;
    encoder.isOfPairs_ = config.objective == Objective::Dpo;
    encoder.mostTokens_ = static_cast<std::size_t>(std::max<std::int64_t>(1, config.seqLen - 1));
    if (manifest.chat) {
        FURROW_TRY_ASSIGN(encoder.renderer_, ConversationRenderer::open(*manifest.chat));
    }
    return encoder;
}

Result<SampleTokens> SampleEncoder::encode(std::string_view row, bool isConversation) const
{
    SampleTokens sample;
    if (isOfPairs_)
        return encodePair(row);
    if (isConversation) {
        FURROW_TRY_ASSIGN(sample, encodeConversation(row));
    } else {
        FURROW_TRY(tokenizer_->encode(row, sample.tokens));
        sample.dropped = countsDropped_ ? tokenizer_->dropped(row, false) : 0;
        if (countsDropped_ && sample.tokens.empty() && !row.empty())
            sample.problem = kRowNoToken.text();
    }
    limit(sample);
    return sample;
}

Result<SampleTokens> SampleEncoder::encodeConversation(std::string_view row) const
{
    SampleTokens sample;
    if (!renderer_) {
        sample.problem = kRowNoTemplate.text();
        return sample;
    }
    const auto written = renderer_->write(row, turns_);
    if (!written.ok()) {
        sample.problem = written.error().message;
        return sample;
    }
    const auto& [text, learnt] = written.value();
    FURROW_TRY(tokenizer_->encodeMatchingSpecial(text, sample.tokens));
    sample.dropped = countsDropped_ ? tokenizer_->dropped(text, true) : 0;
    FURROW_TRY_ASSIGN(sample.learnt, tokensIn(learnt, text, sample.tokens, *tokenizer_));
    if (std::count(sample.learnt.begin(), sample.learnt.end(), 1) == 0)
        sample.problem = kRowAnswerNoToken.text();
    return sample;
}

Result<std::vector<TokenId>> SampleEncoder::tokensOf(const std::string& text, bool isConversation) const
{
    std::vector<TokenId> tokens;
    FURROW_TRY(isConversation ? tokenizer_->encodeMatchingSpecial(text, tokens) : tokenizer_->encode(text, tokens));
    return tokens;
}

/// As DPOTrainer of trl: an answer begins where the tokens of the prompt alone and those of prompt and answer differ,
/// in either answer; behind texts stands the end-of-text; what is too long loses its end.
Result<SampleTokens> SampleEncoder::encodePair(std::string_view row) const
{
    SampleTokens sample;
    const auto pair = readAnswerPair(row);
    const auto text
        = pair.ok() ? writePair(pair.value(), renderer_ ? &*renderer_ : nullptr) : Result<PairText>(pair.error());
    if (!text.ok()) {
        sample.problem = text.error().message;
        return sample;
    }
    const bool isConversation = !pair.value().isText;
    FURROW_TRY_ASSIGN(const auto prompt, tokensOf(text.value().prompt, isConversation));
    FURROW_TRY_ASSIGN(auto chosen, tokensOf(text.value().chosen, isConversation));
    FURROW_TRY_ASSIGN(auto rejected, tokensOf(text.value().rejected, isConversation));
    std::size_t begin = prompt.size();
    for (auto* side : { &chosen, &rejected }) {
        const std::string& written = side == &chosen ? text.value().chosen : text.value().rejected;
        sample.dropped += countsDropped_ ? tokenizer_->dropped(written, isConversation) : 0;
        if (!isConversation && (side->empty() || side->back() != tokenizer_->endOfText()))
            side->push_back(tokenizer_->endOfText());
        const auto same = std::mismatch(prompt.begin(), prompt.end(), side->begin(), side->end()).first;
        begin = std::min(begin, static_cast<std::size_t>(same - prompt.begin()));
    }
    begin = std::max<std::size_t>(begin, 1); // nothing stands before the first token
    if (chosen.size() <= begin || rejected.size() <= begin)
        sample.problem = kRowAnswerNoToken.text();
    else if (chosen == rejected)
        sample.problem = kRowSameAnswers.text();
    const std::size_t most = std::max<std::size_t>(1, mostTokens_ / 2);
    sample.isTooLong = std::max(chosen.size(), rejected.size()) > most;
    sample.isLeftOut = sample.isTooLong && (longSamples_ != LongSamples::Cut || begin >= most);
    for (auto* side : { &chosen, &rejected }) {
        side->resize(sample.isLeftOut ? side->size() : std::min(side->size(), most));
        sample.tokens.insert(sample.tokens.end(), side->begin(), side->end());
        sample.learnt.insert(sample.learnt.end(), std::min(begin, side->size()), 0);
        sample.learnt.resize(sample.tokens.size(), 1);
    }
    return sample;
}

void SampleEncoder::limit(SampleTokens& sample) const
{
    sample.isTooLong = sample.tokens.size() > mostTokens_;
    if (!sample.isTooLong || longSamples_ == LongSamples::Split)
        return;
    if (longSamples_ == LongSamples::Cut) {
        sample.tokens.resize(mostTokens_);
        sample.learnt.resize(sample.learnt.empty() ? 0 : mostTokens_);
    }
    const bool learnsNothing = !sample.learnt.empty() && std::count(sample.learnt.begin(), sample.learnt.end(), 1) == 0;
    sample.isLeftOut = longSamples_ == LongSamples::LeaveOut || learnsNothing;
}

Result<std::vector<std::uint8_t>> tokensIn(const std::vector<ChatStretch>& stretches, std::string_view text,
    std::span<const TokenId> tokens, const Tokenizer& tokenizer)
{
    std::vector<std::uint8_t> inside(tokens.size(), 0);
    const auto ends = endsOf(text, tokens, tokenizer);
    for (const auto& stretch : stretches) {
        std::size_t first = 0, behind = 0;
        if (!ends.empty()) {
            first = static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), stretch.begin) - ends.begin());
            behind
                = static_cast<std::size_t>(std::lower_bound(ends.begin(), ends.end(), stretch.end) - ends.begin()) + 1;
        } else {
            FURROW_TRY_ASSIGN(const auto begin, edgeAt(stretch.begin, text, tokens, tokenizer));
            FURROW_TRY_ASSIGN(const auto end, edgeAt(stretch.end, text, tokens, tokenizer));
            first = begin.token;
            behind = end.token + (end.isInside ? 1 : 0);
        }
        for (std::size_t i = first; i < std::min(behind, tokens.size()); ++i)
            inside[i] = 1;
    }
    return inside;
}

} // namespace furrow
