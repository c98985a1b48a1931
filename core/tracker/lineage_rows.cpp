#include "core/tracker/lineage_rows.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/tracker/row_bounds.h"

#include <map>

namespace furrow {

Result<std::vector<SupervisorLedger::CheckpointRow>> readCheckpoints(Database& db)
{
    FURROW_TRY_ASSIGN(auto view, Transaction::read(db));
    std::map<std::int64_t, std::vector<CheckpointId>> parents;
    {
        Rows rows = db.query("SELECT checkpoint, parent FROM parent ORDER BY checkpoint, parent");
        while (rows.next())
            parents[rows.integer(0)].push_back({ rows.integer(1) });
    }
    std::vector<SupervisorLedger::CheckpointRow> found;
    {
        Rows rows = db.query(
            "SELECT id, kind, replica, folder, manifest_sha256, step, tokens, eval_loss, size_bytes, wall, damaged, removed, pinned, surviving,"
            " EXISTS (SELECT 1 FROM replica r WHERE r.head=checkpoint.id), incarnation, EXISTS (SELECT 1 FROM incarnation i WHERE i.id=checkpoint.incarnation AND i.pid=0 AND i.boot_id='')"
            " FROM checkpoint ORDER BY id");
        while (rows.next()) {
            SupervisorLedger::CheckpointRow row;
            row.id = { rows.integer(0) };
            row.record.kind = static_cast<CheckpointKind>(rows.integer(1));
            row.record.replica = static_cast<std::int32_t>(boundedAt(db, rows, 2, kWorkerBounds));
            row.record.folder = rows.text(3);
            row.record.manifestSha256 = rows.text(4);
            row.record.step = boundedAt(db, rows, 5, kTotalBounds);
            row.record.tokens = boundedAt(db, rows, 6, kTotalBounds);
            if (!rows.isNull(7))
                row.record.evalLoss = rows.real(7);
            row.record.sizeBytes = static_cast<std::uint64_t>(boundedAt(db, rows, 8, kTotalBounds));
            row.record.parents = parents[row.id.value];
            row.wallNs = rows.integer(9);
            row.damaged = rows.integer(10) != 0;
            row.removed = rows.integer(11) != 0;
            row.pinned = rows.integer(12) != 0;
            row.surviving = rows.integer(13) != 0;
            row.head = rows.integer(14) != 0;
            row.incarnation = { rows.integer(15) };
            row.rebuilt = rows.integer(16) != 0;
            if (!isPlainName(row.record.folder)) // it would lead out of the run folder
                db.fail({ ErrorCode::Corrupt,
                    sentence(
                        "the tracker names '%1' as the folder of checkpoint %2, which is no name of a folder; `furrowctl doctor %3 --repair` rebuilds what the checkpoints prove",
                        { row.record.folder, std::to_string(row.id.value), utf8Text(db.path().parent_path()) }) });
            found.push_back(std::move(row));
        }
    }
    FURROW_TRY(view.commit());
    return found;
}

Result<std::vector<SupervisorLedger::ReplicaRow>> readReplicas(Database& db)
{
    std::vector<SupervisorLedger::ReplicaRow> found;
    {
        Rows rows = db.query("SELECT replica, head, parked FROM replica ORDER BY replica");
        while (rows.next()) {
            SupervisorLedger::ReplicaRow row;
            row.replica = static_cast<std::int32_t>(boundedAt(db, rows, 0, kWorkerBounds));
            if (!rows.isNull(1))
                row.head = CheckpointId { rows.integer(1) };
            row.parked = rows.integer(2) != 0;
            found.push_back(row);
        }
    }
    FURROW_TRY(db.takeStatus());
    return found;
}

} // namespace furrow
