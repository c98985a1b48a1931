#pragma once

#include "core/base/message.h"
#include "core/tracker/sqlite/database.h"

namespace furrow {

// A text for people stands in English in its column; what it is made of stands once in the table `message`, by that
// text: a cause that a thousand events share is there once. Internal to core/tracker.

/// Keeps what the message is made of, unless its English text says all. Beside the write of that text, in the same
/// transaction.
void keepMessage(Database& db, const Message& message);

/// The text of a column with what was kept beside it. One line that no terminal obeys (plainLine), since anything may
/// stand in a tracker.
Message messageAt(Database& db, const Rows& row, int column);
/// The same of a text that was read already.
Message messageOfText(Database& db, const std::string& text);

} // namespace furrow
