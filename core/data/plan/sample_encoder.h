#pragma once

#include "core/base/message.h"
#include "core/chat/conversation_text.h"
#include "core/config/run_config.h"
#include "core/data/source/data_manifest.h"
#include "core/data/tokenizer/tokenizer.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// The chat template that the setting chat_template names; nothing where it names none.
Result<std::optional<ChatFormat>> chatFormatOf(const RunConfig& config);
/// Whether that setting is a place on the disk.
bool namesChatFile(const RunConfig& config);
/// A sentence for each special token that the template writes and the vocabulary does not have: it becomes the tokens
/// of its characters.
std::vector<Message> unknownTokens(const ChatFormat& format, const Tokenizer& tokenizer);

/// A sample as it is trained.
struct SampleTokens {
    std::vector<TokenId> tokens;
    std::vector<std::uint8_t> learnt; ///< as in ChunkText; empty for plain text
    bool isTooLong = false; ///< for a window; it may have been cut
    bool isLeftOut = false; ///< for its length
    std::int64_t dropped = 0; ///< characters of it without a token (countsDropped())
    std::string problem {}; ///< not "": it cannot be trained, and why
};

/// How the rows of a data set become tokens: plain text as it stands, a conversation by the chat template that is
/// frozen with the data set, with special tokens as their ids. With objective dpo a row is a pair of answers: the
/// tokens of the chosen one with its prompt, then those of the rejected one with it (pairMiddle()). Immutable; const
/// methods are thread-safe.
class SampleEncoder {
public:
    /// @param tokenizer  must live as long as this
    static Result<SampleEncoder> open(
        const RunConfig& config, const DataManifest& manifest, const Tokenizer& tokenizer);

    /// @param row  the text of a Row
    /// An error says that the tokens of this text cannot be known; what is wrong with a conversation is a problem.
    Result<SampleTokens> encode(std::string_view row, bool isConversation) const;
    const Tokenizer& tokenizer() const { return *tokenizer_; }
    /// Samples that are longer than a window are counted, for they are cut or left out.
    bool limitsLength() const { return isOfPairs_ || longSamples_ != LongSamples::Split; }

    /// The tokenizer may drop text, and what it drops is counted.
    bool countsDropped() const { return countsDropped_; }

private:
    SampleEncoder() = default;
    Result<SampleTokens> encodeConversation(std::string_view row) const;
    Result<SampleTokens> encodePair(std::string_view row) const;
    Result<std::vector<TokenId>> tokensOf(const std::string& text, bool isConversation) const;
    void limit(SampleTokens& sample) const;

    const Tokenizer* tokenizer_ = nullptr;
    std::optional<ConversationRenderer> renderer_;
    LearntTurns turns_ = LearntTurns::All;
    bool countsDropped_ = false;
    LongSamples longSamples_ = LongSamples::Split;
    bool isOfPairs_ = false;
    std::size_t mostTokens_ = 0; ///< of a sample in one window, beside the end-of-text behind it
};

/// Of each token of `text`: 1 where it has a character of a stretch. Tokens are found where they stand by their bytes;
/// where those are not the text (a normalizer, added spaces), by the tokens of what stands before the edge of a
/// stretch.
Result<std::vector<std::uint8_t>> tokensIn(const std::vector<ChatStretch>& stretches, std::string_view text,
    std::span<const TokenId> tokens, const Tokenizer& tokenizer);

} // namespace furrow
