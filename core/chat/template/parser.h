#pragma once

#include "core/chat/template/lexer.h"
#include "core/chat/template/syntax.h"

namespace furrow::chat {

struct ParsedTemplate {
    Body body;
    std::vector<std::string_view> names; ///< by NameId
    bool marksGeneration = false; ///< it has a {% generation %}
};

/// The statements of a template, in `arena`.
Result<ParsedTemplate> parseTemplate(std::string_view source, Arena& arena);

} // namespace furrow::chat
