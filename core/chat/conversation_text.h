#pragma once

#include "core/chat/chat_format.h"
#include "core/chat/chat_template.h"
#include "core/config/choices.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// A conversation as the model reads it.
struct ConversationText {
    std::string text;
    std::vector<ChatStretch> learnt; ///< what the assistant writes, ascending, none empty
};

/// Writes conversations (in the form of readConversation) with the chat template of a model. Immutable; const methods
/// are thread-safe.
class ConversationRenderer {
public:
    /// InvalidArgument: the template cannot be read.
    static Result<ConversationRenderer> open(const ChatFormat& format);

    /// What is learnt is what {% generation %} marks. A template without it is asked once more for each turn: what the
    /// turn adds to the messages before it is what the assistant writes. A turn with "weight": 0 or "train": false is
    /// not learnt (ChatFormat::readsTurnWeights). Where these differences do not line up, or the
    /// template refuses the conversation, the error says at which message, as the rest of a sentence.
    Result<ConversationText> write(std::string_view conversation, LearntTurns turns) const;
    /// The conversation up to where the assistant goes on: what a model is asked with.
    Result<std::string> prompt(std::string_view conversation) const;
    /// Of a pair of conversations: the first `messages` up to where the assistant goes on.
    Result<std::string> prompt(std::string_view conversation, std::size_t messages) const;
    /// All of it, whoever wrote what.
    Result<std::string> whole(std::string_view conversation) const;
    const ChatFormat& format() const { return format_; }

private:
    ConversationRenderer(ChatFormat format, std::shared_ptr<const ChatTemplate> parsed);
    struct Asked;
    enum class Turns { Learnt, Muted };
    Result<std::vector<ChatStretch>> differences(
        const Asked& asked, std::string_view text, Turns which, LearntTurns turns) const;

    ChatFormat format_;
    std::shared_ptr<const ChatTemplate> template_;
};

/// A stretch of a text, all of it learnt or none.
struct TextPiece {
    std::string_view text;
    bool isLearnt = false;
};
/// The whole text, piece by piece; stretches behind its end, as of one that was cut, are left out.
std::vector<TextPiece> piecesOf(std::string_view text, const std::vector<ChatStretch>& learnt);
/// The text with « and » around what is learnt: for people.
std::string markedText(std::string_view text, const std::vector<ChatStretch>& learnt);

/// Texts that look like special tokens in the template: "<|im_start|>".
std::vector<std::string> tokensWritten(const std::string& source);

} // namespace furrow
