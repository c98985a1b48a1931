#include "core/run/start/chunk_decisions.h"

#include "core/base/file_lock.h"
#include "core/base/file_system.h"
#include "core/run/folder/left_out_chunks.h"
#include "core/run/folder/run_file.h"
#include "core/run/folder/stray_checkpoints.h"
#include "core/run/start/life_cycle.h"
#include "core/tracker/ledger_reader.h"
#include "core/tracker/supervisor_ledger.h"

namespace furrow {

namespace {

Status goOnAfter(const RunPaths& paths, SupervisorLedger& ledger)
{
    if (isLocked(paths.supervisorLock()))
        return {}; // its supervisor sees what follows from that
    auto advance = ledger.advance();
    return advance.ok() ? Status {} : Status(advance.error());
}

Status decide(const RunPaths& paths, Status (SupervisorLedger::*decision)(std::span<const ChunkId>),
    std::span<const ChunkId> chunks)
{
    FURROW_TRY_ASSIGN(const auto file, readRunFile(paths));
    FURROW_TRY(refuseOlderTracker(paths, file.runId));
    FURROW_TRY_ASSIGN(auto ledger, openForControl(paths));
    std::vector<ChunkId> meant(chunks.begin(), chunks.end());
    if (meant.empty()) {
        FURROW_TRY_ASSIGN(auto all, poisonedChunks(paths.tracker()));
        for (const NamedChunk& one : all)
            meant.push_back(one.chunk);
    }
    FURROW_TRY((ledger.*decision)(meant));
    return goOnAfter(paths, ledger);
}

} // namespace

Status retryChunks(const RunPaths& paths, std::span<const ChunkId> chunks)
{
    return decide(paths, &SupervisorLedger::retryPoisoned, chunks);
}

Status acceptChunks(const RunPaths& paths, std::span<const ChunkId> chunks)
{
    return decide(paths, &SupervisorLedger::acceptPoisoned, chunks);
}

Result<std::int64_t> excludeChunks(const RunPaths& paths, std::span<const ChunkId> chunks, const Message& cause)
{
    FURROW_TRY_ASSIGN(const auto file, readRunFile(paths));
    FURROW_TRY(refuseOlderTracker(paths, file.runId));
    FURROW_TRY_ASSIGN(auto ledger, openForControl(paths));
    FURROW_TRY_ASSIGN(auto reader, LedgerReader::open(paths.tracker()));
    FURROW_TRY_ASSIGN(const auto epochs, reader.epochs());
    std::vector<ChunkId> meant;
    std::int64_t inPart = 0;
    for (const ChunkId chunk : chunks) {
        FURROW_TRY_ASSIGN(const auto open, openOnesAt(reader, epochs, placeOf(chunk)));
        for (const ChunkCell& cell : open) {
            meant.push_back(cell.id);
            inPart += cell.covered > 0 ? 1 : 0;
        }
    }
    FURROW_TRY_ASSIGN(const auto kept, keepLeftOut(paths, file.runId, { meant, cause }));
    if (auto excluded = ledger.exclude(meant, cause); !excluded.ok()) {
        (void)realFileSystem().removeAll(kept);
        return excluded.error();
    }
    FURROW_TRY(goOnAfter(paths, ledger));
    return inPart;
}

} // namespace furrow
