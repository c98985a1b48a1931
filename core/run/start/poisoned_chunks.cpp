#include "core/run/start/poisoned_chunks.h"

#include "core/base/file_lock.h"
#include "core/run/start/life_cycle.h"
#include "core/tracker/supervisor_ledger.h"

namespace furrow {

namespace {

Status decide(const RunPaths& paths, Status (SupervisorLedger::*decision)(std::span<const ChunkId>),
    std::span<const ChunkId> chunks)
{
    FURROW_TRY_ASSIGN(auto ledger, openForControl(paths));
    std::vector<ChunkId> meant(chunks.begin(), chunks.end());
    if (meant.empty()) {
        FURROW_TRY_ASSIGN(auto all, poisonedChunks(paths.tracker()));
        for (const NamedChunk& one : all)
            meant.push_back(one.chunk);
    }
    FURROW_TRY((ledger.*decision)(meant));
    if (isLocked(paths.supervisorLock()))
        return {}; // its supervisor sees what follows from that
    auto advance = ledger.advance();
    return advance.ok() ? Status {} : Status(advance.error());
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

} // namespace furrow
