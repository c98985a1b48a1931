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

Message messageAt(Database& db, const Rows& row, int column) { return messageOfText(db, row.text(column)); }

Message messageOfText(Database& db, const std::string& text)
{
    std::string line = plainLine(text);
    if (line.empty() || line != text || !keepsMessages(db))
        return line;
    Rows rows = db.query("SELECT parts FROM message WHERE text=?", text);
    return rows.next() ? messageOf(std::move(line), rows.text(0)) : Message(std::move(line));
}

} // namespace furrow
