#include "core/config/bounded_json.h"

#include "core/base/sentence.h"

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
    return nestsTooDeep(text) ? nlohmann::json(nlohmann::json::value_t::discarded)
                              : nlohmann::json::parse(text, nullptr, false);
}

std::optional<nlohmann::json> parseBoundedJson(std::string_view text, std::string& why)
try {
    if (nestsTooDeep(text)) {
        why = sentence("it is nested deeper than %1 levels", { std::to_string(kDeepest) });
        return std::nullopt;
    }
    return nlohmann::json::parse(text);
} catch (const nlohmann::json::parse_error& e) {
    why = text.empty() ? sentence("it is empty") : sentence("it is not JSON at byte %1", { std::to_string(e.byte) });
    return std::nullopt;
} catch (const nlohmann::json::exception&) { // a number of a thousand digits
    why = sentence("it has a number that is too large to be read");
    return std::nullopt;
}

} // namespace furrow
