#pragma once

#include "core/chat/answer_pair.h"
#include "core/chat/conversation_text.h"

#include <string>

namespace furrow {

/// A pair of answers as the model reads it: three texts, of which the first is how the others begin, or should.
struct PairText {
    std::string prompt;
    std::string chosen; ///< with the prompt
    std::string rejected;
};
/// @param renderer  null: the data set has no chat template. Of texts it is not asked, as in trl.
/// InvalidArgument: why the pair cannot be written, as the rest of a sentence.
Result<PairText> writePair(const AnswerPair& pair, const ConversationRenderer* renderer);

/// Both answers with their prompt, one below the other, for people; what is compared counts as learnt.
ConversationText shownPair(const PairText& pair);

} // namespace furrow
