#pragma once

#include "core/base/message.h"
#include "core/tracker/sqlite/database.h"

namespace furrow {

// A text for people stands in English in its column; what it is made of stands once in the table `message`, by that
// text: a cause that a thousand events share is there once. Internal to core/tracker.

/// Keeps what the message is made of, unless its English text says all. Beside the write of that text, in the same
/// transaction.
void keepMessage(Database& db, const Message& message);

/// Reads texts with what was kept beside them, for many rows: what follows itself is looked up once.
class KeptMessages {
public:
    explicit KeptMessages(Database& db);
    /// One line that no terminal obeys (plainLine), since anything may stand in a tracker.
    Message at(const Rows& row, int column);

private:
    Database& db_;
    bool areKept_; ///< the tracker has the table
    std::string text_; ///< of the row before
    Message message_;
};

/// The same of a single row.
Message messageAt(Database& db, const Rows& row, int column);

} // namespace furrow
