#include "core/data/tokenizer/pattern_answer.h"

#include "core/base/sentence.h"

namespace furrow {

Error noPatternAnswer(std::string_view pattern, std::size_t textBytes, const Message& why)
{
    constexpr std::size_t kShown = 200;
    return { ErrorCode::InvalidArgument,
        sentence(
            "What the pattern %1 matches in a text of %2 bytes cannot be found out (%3). Write a pattern that backtracks less, or leave the text out.",
            { std::string(pattern.substr(0, kShown)), std::to_string(textBytes), why }) };
}

} // namespace furrow
