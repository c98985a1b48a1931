#include "core/run/supervise/wrong_transfers.h"

#include "core/base/log.h"
#include "core/base/told.h"
#include "core/data/source/came_wrong.h"
#include "core/tracker/named_chunks.h"

#include <vector>

namespace furrow {

bool isOfTransfers(const Message& cause) { return tells(cause, { kCameWrong }); }

Status retryWrongTransfers(const RunPaths& paths, SupervisorLedger& ledger)
{
    FURROW_TRY_ASSIGN(const auto poisoned, poisonedChunks(paths.tracker()));
    std::vector<ChunkId> again;
    for (const NamedChunk& chunk : poisoned)
        if (isOfTransfers(chunk.cause))
            again.push_back(chunk.chunk);
    if (again.empty())
        return {};
    const Status retried = ledger.retryPoisoned(again);
    if (retried.ok() || retried.error().code != ErrorCode::InvalidArgument)
        return retried;
    logWarning(retried.error().message); // a person decided about one of them just now
    return {};
}

} // namespace furrow
