#include "core/tracker/known_heads.h"

#include "core/tracker/ledger_file.h"
#include "core/tracker/sqlite/database.h"

namespace furrow {

Result<std::vector<KnownHead>> knownHeads(const std::filesystem::path& ledger)
{
    FURROW_TRY_ASSIGN(auto db, openForReading(ledger, {}, ReadFor::Look));
    std::vector<KnownHead> found;
    {
        Rows rows
            = db.query("SELECT DISTINCT c.folder, c.manifest_sha256 FROM replica r JOIN checkpoint c ON c.id=r.head"
                       " WHERE c.damaged=0 AND c.removed=0");
        while (rows.next())
            found.push_back({ rows.text(0), rows.text(1) });
    }
    FURROW_TRY(db.takeStatus());
    return found;
}

} // namespace furrow
