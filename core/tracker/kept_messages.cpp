#include "core/tracker/kept_messages.h"

#include "core/base/plain_line.h"
#include "core/config/message_json.h"
#include "core/tracker/schema.h"

namespace furrow {

void keepMessage(Database& db, const Message& message)
{
    if (const std::string parts = messageParts(message); !parts.empty())
        db.run("INSERT INTO message (text, parts) VALUES (?, ?) ON CONFLICT (text) DO NOTHING", message.text(), parts);
}

KeptMessages::KeptMessages(Database& db)
    : db_(db)
    , areKept_(keepsMessages(db))
{
}

Message KeptMessages::at(const Rows& row, int column)
{
    std::string text = row.text(column);
    if (text == text_)
        return message_;
    text_ = std::move(text);
    message_ = plainLine(text_);
    if (areKept_ && message_.text() == text_) {
        Rows kept = db_.query("SELECT parts FROM message WHERE text=?", text_);
        if (kept.next())
            message_ = messageOf(text_, kept.text(0));
    }
    return message_;
}

Message messageAt(Database& db, const Rows& row, int column) { return KeptMessages(db).at(row, column); }

} // namespace furrow
