#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace furrow {

// The sets of characters that components of the tokenizers library test for, as it does: each of the Unicode version of
// that part (reference_characters.inc). A byte that is no UTF-8 (kInvalidByte) is in none.

/// White_Space.
bool isReferenceSpace(char32_t c);
/// \w of its plain patterns: Alphabetic, marks, decimal digits, connectors, joiners.
bool isReferenceWord(char32_t c);
/// What Punctuation and BertPreTokenizer split at.
bool isReferencePunctuation(char32_t c);
/// What BertNormalizer takes away as control characters; line ends and tabs are none.
bool isReferenceControl(char32_t c);
/// Nonspacing marks, which BertNormalizer takes for accents.
bool isReferenceAccent(char32_t c);
/// Combining marks, which StripAccents takes away.
bool isReferenceCombining(char32_t c);
/// A number for each script as UnicodeScripts sees it (Han, Hiragana and Katakana are one); 0 joins any.
int referenceScript(char32_t c);
/// Appends the lower case of a code point; of U+0130 that is two.
void appendLower(std::string& out, char32_t c);

} // namespace furrow
