#pragma once

#include "core/base/sentence.h"

#include <string_view>

namespace furrow {

// Why a row of the data cannot be used: what stands behind "row 2 of chats.jsonl". Blocks keep these as plain texts, so
// a changed one is not known in blocks of before.

inline constexpr SentenceText kRowTooLong("is longer than 16 MiB");
inline constexpr SentenceText kRowBrokenJson("is broken JSON");
inline constexpr SentenceText kRowBrokenJsonBecause("is broken JSON: %1");
inline constexpr SentenceText kRowNoObject("is not a JSON object");
inline constexpr SentenceText kRowTextNoString("has a text column that is not a string");
inline constexpr SentenceText kRowFewColumns("has fewer columns than the header");
inline constexpr SentenceText kRowManyFields("has more fields than there are columns");
inline constexpr SentenceText kRowNoFile("has no file of that ending");
inline constexpr SentenceText kRowTwoFiles("has two files of one ending");
inline constexpr SentenceText kRowPacked("is packed as its server sent it");
inline constexpr SentenceText kRowBrokenChunks("says that it comes in chunks, and these are broken");
inline constexpr SentenceText kRowDamaged("lies where the file is damaged");
inline constexpr SentenceText kRowNoToken("becomes no token: the tokenizer keeps nothing of its text");
inline constexpr SentenceText kRowNoTemplate("is a conversation, and the data set has no chat template");
inline constexpr SentenceText kRowRefused("is refused: %1");
inline constexpr SentenceText kRowNothingLearnt(
    "has no turn of the assistant that is to be learnt (weight 0, or train false)");
inline constexpr SentenceText kRowAnswerNotWritten("is written by the chat template without a turn of the assistant");
inline constexpr SentenceText kRowAnswerNoToken("has a turn of the assistant without a token");
inline constexpr SentenceText kRowNoConversation("is not a conversation");
inline constexpr SentenceText kRowNoMessages("has no messages");
inline constexpr SentenceText kRowNoMessagesIn("has no messages in %1"); ///< a column
inline constexpr SentenceText kRowNoAnswer("has no turn of the assistant");
inline constexpr SentenceText kRowTooLarge("is larger than a conversation may be");
inline constexpr SentenceText kRowToolsNoList("has tools that are not a list");
inline constexpr SentenceText kRowNoField("has no %1"); ///< a column
// Of pairs of answers.
inline constexpr SentenceText kRowSameAnswers("has the same answer as chosen and as rejected");
inline constexpr SentenceText kRowTextAndMessages("has a text and a list of messages as its two answers");
inline constexpr SentenceText kRowNoPrompt("has no prompt: its chosen and rejected messages differ from the first on");
inline constexpr SentenceText kRowNoAnswerIn("has no turn of the assistant in %1"); ///< a column
inline constexpr SentenceText kRowNoPair("is not a pair of answers");
// Of a message, by its number from 1.
inline constexpr SentenceText kMessageNoObject("has a message %1 that is not an object");
inline constexpr SentenceText kMessageNotJson("has a message %1 that cannot be written as JSON");
inline constexpr SentenceText kMessageSilent("has a message %1 of the assistant without text");
inline constexpr SentenceText kMessageNoRole("has a message %1 without a role");
inline constexpr SentenceText kMessageUnknownRole("has a message %1 of the unknown role '%2'");
inline constexpr SentenceText kMessageNoContent("has a message %1 without content");
inline constexpr SentenceText kMessageContentNoText("has a message %1 whose content is not text");
inline constexpr SentenceText kMessagePartNoText("has a message %1 with a part that is not text");

/// One of those without a place, as Row::problem has it.
inline const char* literal(SentenceText text) { return text.text().data(); } // a literal ends with a zero

/// The sentence that such a plain text is; of one that is not known, the text itself.
Message rowProblem(std::string_view text);

} // namespace furrow
