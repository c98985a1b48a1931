#include "core/run/checkpoint_manifest.h"
#include "core/run/life_cycle.h"
#include "core/run/run_status.h"

#include <set>

namespace furrow {

namespace {

void countCells(ResumePlan& plan)
{
    for (const auto& cell : plan.cells) {
        switch (cell.state) {
        case ChunkState::Committed: ++plan.kept; break;
        case ChunkState::Trained: ++plan.workLost; break;
        case ChunkState::Leased: ++plan.orphaned; break;
        case ChunkState::Pending:
        case ChunkState::Free: ++plan.free; break;
        case ChunkState::Excluded: ++plan.excluded; break;
        case ChunkState::Poisoned:
        case ChunkState::Accepted: ++plan.poisoned; break;
        }
    }
}

/// Chunks that this checkpoint adds to its parents.
std::int64_t chunksIn(const RunPaths& paths, const SupervisorLedger::CheckpointRow& row)
{
    auto manifest = readManifest(paths.checkpointFolder(row.record.folder));
    if (!manifest.ok())
        return 0;
    std::set<std::int64_t> chunks;
    for (const auto& part : manifest.value().parts)
        chunks.insert(part.chunk.value);
    return static_cast<std::int64_t>(chunks.size());
}

} // namespace

Result<ResumePlan> planResume(const RunPaths& paths)
{
    auto file = readRunFile(paths);
    if (!file.ok())
        return file.error();
    auto reader = openLedger(paths);
    if (!reader.ok())
        return reader.error();
    auto epochs = reader.value().epochs();
    auto rows = reader.value().checkpoints();
    if (!epochs.ok())
        return epochs.error();
    if (!rows.ok())
        return rows.error();
    ResumePlan plan;
    if (!epochs.value().empty()) {
        auto cells = reader.value().cells(epochs.value().back().epoch);
        if (!cells.ok())
            return cells.error();
        plan.cells = std::move(cells).value();
    }
    countCells(plan);
    for (const auto& row : rows.value()) {
        if (row.removed)
            continue;
        ResumePlan::CheckpointChoice choice;
        choice.row = row;
        const auto verdict = verifyCheckpoint(paths.checkpointFolder(row.record.folder), row.record.manifestSha256, file.value().runId);
        choice.verified = verdict.ok() && !row.damaged;
        if (!verdict.ok())
            choice.problem = verdict.error().message;
        choice.kept = chunksIn(paths, row);
        if (row.head && !choice.verified) {
            plan.redo += choice.kept;
            plan.notes.push_back(choice.problem + " The one before it is used.");
        }
        plan.checkpoints.push_back(std::move(choice));
    }
    plan.kept -= plan.redo;
    return plan;
}

} // namespace furrow
