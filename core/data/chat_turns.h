#pragma once

#include "core/chat/conversation.h"
#include "core/chat/conversation_text.h"
#include "core/data/tokenizer/tokenizer.h"

#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// Talking to a model in its own format: how the turns before its answer are written, and what ends the answer. const
/// methods are thread-safe.
class ChatTurns {
public:
    /// @param tokenizer  must live as long as this
    /// @param generationConfig  JSON of the model's generation_config.json, whose eos_token_id end an answer too; or ""
    static Result<ChatTurns> open(
        const ChatFormat& format, const Tokenizer& tokenizer, std::string_view generationConfig = {});

    /// The tokens up to where the assistant goes on. An error says why the template refuses these messages.
    Result<std::vector<TokenId>> prompt(const std::vector<ChatMessage>& messages) const;
    /// Tokens that end an answer and do not belong to it.
    const std::vector<TokenId>& endTokens() const { return endTokens_; }
    /// The text that ends an answer where the vocabulary has no token for it; "" where it has.
    const std::string& endText() const { return endText_; }

private:
    ChatTurns(ConversationRenderer renderer, const Tokenizer& tokenizer);
    void findEnd();
    void addEnd(TokenId token);

    ConversationRenderer renderer_;
    const Tokenizer* tokenizer_;
    std::vector<TokenId> endTokens_;
    std::string endText_;
};

/// The different characters of a text that the vocabulary has no token for, each as it stands; none where every byte
/// has one.
std::vector<std::string> unknownCharacters(std::string_view text, const Tokenizer& tokenizer);

} // namespace furrow
