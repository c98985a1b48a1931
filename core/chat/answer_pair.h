#pragma once

#include "core/base/result.h"
#include "core/chat/conversation.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace furrow {

namespace chat {
class Arena;
struct Dict;
} // namespace chat

/// A prompt and two ways to go on with it, of which people chose one: texts as they stand, or conversations in the form
/// of readConversation() that begin with the same messages.
struct AnswerPair {
    bool isText = true;
    std::string prompt; ///< of texts
    std::size_t promptMessages = 0; ///< of conversations: how many messages both begin with
    std::string chosen; ///< of texts what stands behind the prompt, else a whole conversation
    std::string rejected;
    bool operator==(const AnswerPair&) const = default;
};

/// Recognises pairs by the columns of rows, as findConversation() does.
ConversationColumns findAnswerPairs(const std::vector<std::string>& all, const std::vector<std::string>& texts);

/// Brings the pair of a row into its one form, which readAnswerPair() reads: `chosen` and `rejected`, texts or lists of
/// messages, and `prompt` where they do not begin with it themselves. Without it the prompt is what both begin with, as
/// in extract_prompt() of trl.
/// @param arena  what `row` lies in
/// @return "", or why the row is no pair that can be trained, as the rest of a sentence: "has no rejected"
std::string writeAnswerPair(const chat::Dict& row, chat::Arena& arena, std::string& pair);

/// @param pair  as writeAnswerPair() wrote it. Corrupt: it did not.
Result<AnswerPair> readAnswerPair(std::string_view pair);

} // namespace furrow
