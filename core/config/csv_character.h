#pragma once

#include "core/base/message.h"

#include <optional>
#include <string>
#include <string_view>

namespace furrow {

/// What a csv setting names: one ASCII character, itself or as comma, semicolon, tab, pipe, space; '\0' for none.
/// Nothing when it is "auto" or not understood.
std::optional<char> csvCharacter(std::string_view text);
/// The name of a character as the settings take it.
std::string csvCharacterName(char c);
/// For people: "semicolon".
Message csvCharacterInWords(char c);

} // namespace furrow
