#pragma once

#include "core/base/result.h"
#include "core/chat/template/value.h"

#include <vector>

namespace furrow::chat {

struct Token {
    enum class Kind : std::uint8_t {
        Data, ///< text between tags, white space already cut as the tags beside it ask
        PrintBegin, ///< {{
        PrintEnd,
        BlockBegin, ///< {%
        BlockEnd,
        Name,
        Text, ///< a string literal, its escapes resolved
        Number, ///< `value` holds it
        Operator,
        End
    };
    Kind kind = Kind::End;
    std::string_view text;
    Value value {};
    int line = 1;
};

/// An error of a template in words, with its line.
Error templateError(int line, const Message& what);

/// Cuts a template into tokens as Jinja2 does with trim_blocks and lstrip_blocks, which chat templates expect. What the
/// tokens say lies in `arena`.
Result<std::vector<Token>> readTokens(std::string_view source, Arena& arena);

} // namespace furrow::chat
