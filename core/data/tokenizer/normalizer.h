#pragma once

#include "core/data/tokenizer/precompiled_charsmap.h"
#include "core/data/tokenizer/regex.h"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace furrow {

// The steps that tokenizer.json may name, with its own words for their settings.

enum class UnicodeForm { Nfc, Nfd, Nfkc, Nfkd };
struct PrependText {
    std::string text;
};
struct ReplaceText {
    std::string from; ///< when there is no `pattern`
    std::string to;
    std::shared_ptr<const Regex> pattern;
};
struct LowercaseText { };
struct StripSpaces {
    bool left = true;
    bool right = true;
};
struct StripAccents { };
struct BertText {
    bool clean = true; ///< no control characters, and every white space a space
    bool chinese = true; ///< spaces around Chinese characters
    bool accents = true; ///< nonspacing marks are taken away
    bool lowercase = true;
};
struct NmtText { };
struct PrecompiledText {
    std::shared_ptr<const PrecompiledCharsmap> charsmap;
};
struct ByteLevelText { };
using NormalizerStep = std::variant<UnicodeForm, PrependText, ReplaceText, LowercaseText, StripSpaces, StripAccents,
    BertText, NmtText, PrecompiledText, ByteLevelText>;

/// A text on its way through the steps.
struct NormalizedText {
    std::string_view text;
    std::string storage; ///< holds the text when it differs from what was given
    bool keepsStart = true; ///< its first character stands for the first of the original
};

/// Lets `out.text` be `text` after all steps. Bytes that are no valid UTF-8 stay as they are. An error: a pattern takes
/// too many steps, or the text grows without measure.
Status normalize(const std::vector<NormalizerStep>& steps, std::string_view text, NormalizedText& out);

/// NFC and so on, for the code points of Unicode 9, the version of the tokenizers library. @return false when nothing
/// changes
bool applyForm(UnicodeForm form, std::string_view text, std::string& out);

} // namespace furrow
