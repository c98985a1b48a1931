#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// A text for people with its values in the places %1, %2, ... (at most nine). Written with this, and with the text as
/// one literal, the console knows the sentence and shows it in the language of the person, wherever it was kept
/// meanwhile (ui/models/core_words.h).
std::string sentence(std::string_view text, const std::vector<std::string>& values = {});

} // namespace furrow
