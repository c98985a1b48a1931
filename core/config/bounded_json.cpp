#include "core/config/bounded_json.h"

namespace furrow {

namespace {

constexpr int kDeepest = 64;

bool nestsTooDeep(std::string_view text)
{
    int depth = 0;
    bool inString = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"')
            inString = !inString;
        else if (inString && c == '\\')
            ++i;
        else if (!inString && (c == '[' || c == '{') && ++depth > kDeepest)
            return true;
        else if (!inString && (c == ']' || c == '}'))
            --depth;
    }
    return false;
}

} // namespace

nlohmann::json parseBoundedJson(std::string_view text)
{
    return nestsTooDeep(text) ? nlohmann::json(nlohmann::json::value_t::discarded) : nlohmann::json::parse(text, nullptr, false);
}

} // namespace furrow
