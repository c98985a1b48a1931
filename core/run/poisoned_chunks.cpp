#include "core/run/poisoned_chunks.h"

#include "core/base/file_lock.h"
#include "core/run/life_cycle.h"
#include "core/tracker/supervisor_ledger.h"

namespace furrow {

namespace {

Status decide(const RunPaths& paths, Status (SupervisorLedger::*decision)(std::span<const ChunkId>), std::span<const ChunkId> chunks)
{
    std::vector<ChunkId> meant(chunks.begin(), chunks.end());
    if (meant.empty()) {
        auto all = poisonedChunks(paths.tracker());
        if (!all.ok())
            return all.error();
        for (const NamedChunk& one : all.value())
            meant.push_back(one.chunk);
    }
    auto ledger = openForControl(paths);
    if (!ledger.ok())
        return ledger.error();
    if (auto status = (ledger.value().*decision)(meant); !status.ok())
        return status;
    if (isLocked(paths.supervisorLock()))
        return {}; // its supervisor sees what follows from that
    auto advance = ledger.value().advance();
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
