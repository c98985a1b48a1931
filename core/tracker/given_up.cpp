#include "core/tracker/given_up.h"

#include "core/base/told.h"
#include "core/tracker/ledger_file.h"
#include "core/tracker/row_bounds.h"

namespace furrow {

namespace {

// Of each chunk the newest training that began, where a part of it is dead.
constexpr const char* kGivenUp
    = "SELECT c.chunk, c.cause FROM (SELECT DISTINCT claim FROM part WHERE alive=0) p CROSS JOIN claim c ON c.id=p.claim"
      " WHERE c.started_wall<>0 AND NOT EXISTS"
      " (SELECT 1 FROM claim d WHERE d.chunk=c.chunk AND d.id>c.id AND d.started_wall<>0) ORDER BY c.chunk";

} // namespace

Result<std::vector<GivenUpChunk>> givenUpByCheckpoints(const std::filesystem::path& tracker)
{
    FURROW_TRY_ASSIGN(auto opened, openForReading(tracker));
    Database& db = opened;
    FURROW_TRY_ASSIGN(auto view, Transaction::read(db));
    std::vector<GivenUpChunk> chunks;
    {
        Rows rows = db.query(kGivenUp);
        while (rows.next())
            chunks.push_back({ chunkIdAt(db, rows, 0), tells(Message(rows.text(1)), { kLeftByGoingBack }) });
    }
    if (Status status = view.commit(); !status.ok())
        return status.error().in(sentence("reading which trainings were given up"));
    return chunks;
}

} // namespace furrow
