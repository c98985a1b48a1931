#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// How conversations stand in the rows of a data set.
enum class ConversationForm {
    None, ///< the rows are plain text
    Messages, ///< a list of {"role", "content"}, as chat APIs have it; `tools` beside it
    ShareGpt, ///< a list of {"from", "value"}; `system` and `tools` beside it
    Alpaca, ///< instruction, input, output; `system` beside them
    Prompt, ///< prompt and completion (or response): texts, or lists of messages
    PairOfTexts, ///< chosen, rejected and perhaps prompt: texts, or lists of messages as JSON in texts (AnswerPair)
    PairOfMessages, ///< the same as lists of messages
};
constexpr bool isPair(ConversationForm form)
{
    return form == ConversationForm::PairOfTexts || form == ConversationForm::PairOfMessages;
}
/// As manifests have it: "messages", "sharegpt", "alpaca", "prompt", "pair_of_texts", "pair_of_messages"; "" for None.
std::string toString(ConversationForm form);
/// None for a name that is none.
ConversationForm conversationForm(std::string_view name);

/// Where a row keeps its conversation.
struct ConversationColumns {
    ConversationForm form = ConversationForm::None;
    std::string column; ///< the list, or what the assistant says
    bool operator==(const ConversationColumns&) const = default;
};

/// Recognises conversations by the columns that rows have; pairs of answers are found by findAnswerPairs().
/// @param all, texts  names of the outermost columns, and paths of all texts ("messages[].role")
/// @param wanted  the column that a person named; "": the usual names count
ConversationColumns findConversation(
    const std::vector<std::string>& all, const std::vector<std::string>& texts, const std::string& wanted);

/// Paths of the texts that such a conversation is made of, where they are stored column by column: the first is the one
/// that says most, of the others some may not be there.
std::vector<std::string> textColumns(const ConversationColumns& columns);

/// Brings the conversation of a row into its one form: {"messages":[{"role","content",...},...],"tools":[...]}, with
/// the roles system, developer, user, assistant and tool, and without members that are null. Equal conversations give
/// equal bytes, in whatever form they stood. A pair of answers gets the form of writeAnswerPair().
/// @param row  a JSON object, UTF-8
/// @return "", or why the row is no conversation that can be trained, as the rest of a sentence: "has no turn of the
///     assistant"
std::string readConversation(std::string_view row, const ConversationColumns& columns, std::string& conversation);

/// A conversation in that form, of a person's own messages.
struct ChatMessage {
    std::string role;
    std::string content;
};
std::string conversationOf(const std::vector<ChatMessage>& messages);

} // namespace furrow
