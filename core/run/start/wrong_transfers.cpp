#include "core/run/start/wrong_transfers.h"

#include "core/base/log.h"
#include "core/base/told.h"
#include "core/data/source/came_wrong.h"
#include "core/tracker/named_chunks.h"

namespace furrow {

bool isOfTransfers(const Message& cause) { return tells(cause, { kCameWrong }); }

Result<std::vector<ChunkId>> wrongTransfers(const std::filesystem::path& tracker)
{
    FURROW_TRY_ASSIGN(const auto poisoned, poisonedChunks(tracker));
    std::vector<ChunkId> chunks;
    for (const NamedChunk& chunk : poisoned)
        if (isOfTransfers(chunk.cause))
            chunks.push_back(chunk.chunk);
    return chunks;
}

Status retryWrongTransfers(const RunPaths& paths, SupervisorLedger& ledger)
{
    FURROW_TRY_ASSIGN(const auto again, wrongTransfers(paths.tracker()));
    if (again.empty())
        return {};
    const Status retried = ledger.retryPoisoned(again);
    if (retried.ok() || retried.error().code != ErrorCode::InvalidArgument)
        return retried;
    logWarning(retried.error().message); // a person decided about one of them just now
    return {};
}

} // namespace furrow
