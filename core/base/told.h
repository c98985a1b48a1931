#pragma once

#include "core/base/sentence.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace furrow {

// Which sentence a message is. What else is known of an event is read from its values, never from its words.

/// The values of a message that is this sentence; nothing: it says something else. A plain text, as trackers of before
/// version 6 have it, is taken apart at the pieces of the sentence.
std::optional<std::vector<std::string>> valuesOf(const Message& message, SentenceText text);

/// Whether a message is one of these sentences, or has one among its values.
bool tells(const Message& message, std::initializer_list<SentenceText> sentences);

/// What the ledger kept, to stand in a sentence: it keeps one without values as a plain text, and that would be a name
/// there, which no language translates.
Message asSentence(const Message& kept);

} // namespace furrow
