#include "core/config/csv_character.h"

#include "core/base/sentence.h"

#include <utility>

namespace furrow {

namespace {

constexpr std::pair<SentenceText, char> kNames[]
    = { { SentenceText("none"), '\0' }, { SentenceText("comma"), ',' }, { SentenceText("semicolon"), ';' },
          { SentenceText("tab"), '\t' }, { SentenceText("pipe"), '|' }, { SentenceText("space"), ' ' } };

} // namespace

std::optional<char> csvCharacter(std::string_view text)
{
    for (const auto& [name, c] : kNames)
        if (text == name.text())
            return c;
    const bool isOne = text.size() == 1 && static_cast<unsigned char>(text[0]) < 0x80 && text[0] != '\n'
        && text[0] != '\r' && text[0] != '\0';
    return isOne ? std::optional(text[0]) : std::nullopt;
}

std::string csvCharacterName(char c)
{
    for (const auto& [name, named] : kNames)
        if (c == named)
            return std::string(name.text());
    return std::string(1, c);
}

Message csvCharacterInWords(char c)
{
    for (const auto& [name, named] : kNames)
        if (c == named)
            return sentence(name);
    return Message(std::string(1, c));
}

} // namespace furrow
