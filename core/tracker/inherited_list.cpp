#include "core/tracker/inherited_list.h"

#include "core/base/clock.h"
#include "core/base/hash.h"
#include "core/tracker/ledger_file.h"
#include "core/tracker/schema.h"

namespace furrow {

Result<InheritedList> inheritedList(const std::filesystem::path& tracker)
{
    FURROW_TRY_ASSIGN(auto db, openForReading(tracker, {}, ReadFor::Look));
    InheritedList list;
    if (keepsInherited(db)) {
        Rows rows = db.query("SELECT block, columns, mark FROM inherited");
        while (rows.next())
            list[rows.integer(0)] = { rows.text(1), static_cast<Inherited>(rows.integer(2)) };
    }
    FURROW_TRY(db.takeStatus());
    return list;
}

Status storeInheritedList(const std::filesystem::path& tracker, const InheritedList& list)
{
    FURROW_TRY_ASSIGN(auto file, openLedger(tracker, systemClock()));
    Database& db = file.db;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(db));
    db.run("DELETE FROM inherited");
    for (const auto& [block, row] : list)
        db.run("INSERT INTO inherited (block, columns, mark) VALUES (?, ?, ?)", block, row.columns, row.mark);
    return transaction.commit();
}

std::string hashOf(const InheritedList& list)
{
    std::string text;
    for (const auto& [block, row] : list)
        text += std::to_string(block) + " " + std::to_string(static_cast<int>(row.mark)) + " " + row.columns + "\n";
    return sha256Hex(text);
}

} // namespace furrow
