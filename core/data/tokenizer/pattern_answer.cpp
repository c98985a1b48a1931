#include "core/data/tokenizer/pattern_answer.h"

#include "core/base/sentence.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace furrow {

Result<bool> patternAnswer(int code, std::string_view pattern, std::size_t textBytes)
{
    if (code >= 0 || code == PCRE2_ERROR_NOMATCH)
        return code >= 0;
    constexpr std::size_t kShown = 200;
    PCRE2_UCHAR why[200] = {};
    pcre2_get_error_message(code, why, sizeof why);
    return Error { ErrorCode::InvalidArgument,
        sentence("What the pattern %1 matches in a text of %2 bytes cannot be found out (%3). Write a pattern that backtracks less, or leave the text out.",
            { std::string(pattern.substr(0, kShown)), std::to_string(textBytes), reinterpret_cast<const char*>(why) }) };
}

} // namespace furrow
