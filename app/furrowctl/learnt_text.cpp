#include "app/furrowctl/learnt_text.h"

#include "app/furrowctl/terminal_output.h"

#include <nlohmann/json.hpp>

#include <ostream>

namespace furrow::ctl {

namespace {

std::string written(std::string_view text, Layout layout)
{
    if (layout == Layout::AsItIs)
        return std::string(text);
    const std::string quoted = nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return quoted.substr(1, quoted.size() - 2);
}

} // namespace

const char* learntMarks(const std::ostream& stream)
{
    return canBeDim(stream) ? "those that are not dim below" : "those between \u00ab and \u00bb below";
}

void printLearnt(std::ostream& stream, std::string_view text, const std::vector<ChatStretch>& learnt, Layout layout)
{
    const char* quote = layout == Layout::Quoted ? "\"" : "";
    stream << quote;
    const auto print = [&](std::string_view part) { stream << written(part, layout); };
    if (!canBeDim(stream)) {
        print(markedText(text, learnt));
    } else {
        for (const TextPiece& piece : piecesOf(text, learnt)) {
            stream << (piece.isLearnt ? plain : dim);
            print(piece.text);
        }
        stream << plain;
    }
    stream << quote;
}

} // namespace furrow::ctl
