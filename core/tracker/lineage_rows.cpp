#include "core/tracker/lineage_rows.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/tracker/row_bounds.h"
#include "core/tracker/sqlite/select.h"

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
        static constexpr Select kCheckpoints {
            "SELECT id, kind, replica, folder, manifest_sha256, step, tokens, eval_loss, size_bytes, wall, damaged, removed, pinned, surviving,"
            " EXISTS (SELECT 1 FROM replica r WHERE r.head=checkpoint.id) AS is_head, incarnation, EXISTS (SELECT 1 FROM incarnation i WHERE i.id=checkpoint.incarnation AND i.pid=0 AND i.boot_id='') AS is_rebuilt"
            " FROM checkpoint ORDER BY id"
        };
        Rows rows = db.query(kCheckpoints.sql);
        while (rows.next()) {
            SupervisorLedger::CheckpointRow row;
            row.id = { rows.integer(kCheckpoints["id"]) };
            row.record.kind = static_cast<CheckpointKind>(rows.integer(kCheckpoints["kind"]));
            row.record.replica = static_cast<std::int32_t>(boundedAt(db, rows, kCheckpoints["replica"], kWorkerBounds));
            row.record.folder = rows.text(kCheckpoints["folder"]);
            row.record.manifestSha256 = rows.text(kCheckpoints["manifest_sha256"]);
            row.record.step = boundedAt(db, rows, kCheckpoints["step"], kTotalBounds);
            row.record.tokens = boundedAt(db, rows, kCheckpoints["tokens"], kTotalBounds);
            if (!rows.isNull(kCheckpoints["eval_loss"]))
                row.record.evalLoss = rows.real(kCheckpoints["eval_loss"]);
            row.record.sizeBytes
                = static_cast<std::uint64_t>(boundedAt(db, rows, kCheckpoints["size_bytes"], kTotalBounds));
            row.record.parents = parents[row.id.value];
            row.wallNs = rows.integer(kCheckpoints["wall"]);
            row.damaged = rows.integer(kCheckpoints["damaged"]) != 0;
            row.removed = rows.integer(kCheckpoints["removed"]) != 0;
            row.pinned = rows.integer(kCheckpoints["pinned"]) != 0;
            row.surviving = rows.integer(kCheckpoints["surviving"]) != 0;
            row.head = rows.integer(kCheckpoints["is_head"]) != 0;
            row.incarnation = { rows.integer(kCheckpoints["incarnation"]) };
            row.rebuilt = rows.integer(kCheckpoints["is_rebuilt"]) != 0;
            if (!isPlainName(row.record.folder)) // it would lead out of the run folder
                db.fail({ ErrorCode::Corrupt,
                    sentence(
                        "the tracker names '%1' as the folder of checkpoint %2, which is not the name of a folder; `furrowctl doctor %3 --repair` rebuilds what the checkpoints prove",
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
