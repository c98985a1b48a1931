#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace furrow {

enum class UnicodeForm { Nfc, Nfd, Nfkc, Nfkd };
struct PrependText {
    std::string text;
};
struct ReplaceText {
    std::string from;
    std::string to;
};
using NormalizerStep = std::variant<UnicodeForm, PrependText, ReplaceText>;

/// The text after all steps. Bytes that are no valid UTF-8 stay as they are.
/// @param storage  holds the result when it differs from `text`
std::string_view normalized(const std::vector<NormalizerStep>& steps, std::string_view text, std::string& storage);

} // namespace furrow
