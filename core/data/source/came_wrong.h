#pragma once

#include "core/base/sentence.h"

namespace furrow {

/// A file of a network of which each transfer was wrong. That says nothing of the file, so nothing of it is left out
/// for good: the next attempt asks for it again.
inline constexpr SentenceText kCameWrong("%1 It came so %2 times in a row and is not fetched again in this attempt.");

} // namespace furrow
