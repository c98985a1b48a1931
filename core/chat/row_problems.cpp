#include "core/chat/row_problems.h"

#include "core/base/told.h"

#include <string>
#include <vector>

namespace furrow {

namespace {

// Of two that fit, the narrower one first.
constexpr SentenceText kAll[] = { kRowTooLong, kRowBrokenJson, kRowBrokenJsonBecause, kRowNoObject, kRowTextNoString,
    kRowFewColumns, kRowManyFields, kRowNoFile, kRowTwoFiles, kRowPacked, kRowBrokenChunks, kRowDamaged, kRowNoToken,
    kRowNoTemplate, kRowRefused, kRowNothingLearnt, kRowAnswerNotWritten, kRowAnswerNoToken, kRowNoConversation,
    kRowNoMessages, kRowNoMessagesIn, kRowNoAnswer, kRowTooLarge, kRowToolsNoList, kMessageNoObject, kMessageNotJson,
    kMessageSilent, kMessageNoRole, kMessageUnknownRole, kMessageNoContent, kMessageContentNoText, kMessagePartNoText,
    kRowSameAnswers, kRowTextAndMessages, kRowNoPrompt, kRowNoAnswerIn, kRowNoPair, kRowNoField };

} // namespace

Message rowProblem(std::string_view text)
{
    const Message plain { std::string(text) };
    for (const SentenceText known : kAll)
        if (const auto values = valuesOf(plain, known))
            return sentence(known, std::vector<Argument>(values->begin(), values->end()));
    return plain;
}

} // namespace furrow
