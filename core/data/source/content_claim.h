#pragma once

#include "core/base/result.h"
#include "core/base/sentence.h"

#include <optional>
#include <string>
#include <string_view>

namespace furrow {

// A known ending of a name is a claim about the content. Content that denies it is Corrupt, with the likely cause: it
// must not be taken for something else.

/// What can be done with a file that is no text.
enum class NotText { LeaveOut, SaveAsCsv, SaveAsText, WriteAsRows, Rename, Unpack };

struct KnownContent {
    SentenceText what; ///< in words: "a zip archive"
    NotText advice = NotText::LeaveOut;
};

/// What content begins with that is no text; nothing: it may be text.
/// @param head  some hundred bytes or more, expanded
std::optional<KnownContent> knownContent(std::string_view head);
/// Of a file with such content: what it is and what to do.
Error notText(const std::string& name, const KnownContent& content);

/// Of a file that is called .parquet and does not begin as one: why, as far as that can be told.
/// @param tail  its last four bytes
Error notParquet(const std::string& name, std::string_view head, std::string_view tail);

/// Ok when text can be what the ending claims.
/// @param extension  in lower case, without that of a compression
/// @param head  expanded, in UTF-8
Status checkTextClaim(const std::string& name, const std::string& extension, std::string_view head);

/// Some of it may be anything, but as a whole these bytes are not text.
bool looksBinary(std::string_view bytes);

} // namespace furrow
