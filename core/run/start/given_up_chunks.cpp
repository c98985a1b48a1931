#include "core/run/start/given_up_chunks.h"

#include <algorithm>

namespace furrow {

namespace {

/// A checkpoint had what was trained last of it, and does not survive.
Result<bool> wasLeftBehind(ChunkId chunk, LedgerReader& reader)
{
    FURROW_TRY_ASSIGN(const auto claims, reader.claimsOf(chunk));
    const auto last
        = std::find_if(claims.rbegin(), claims.rend(), [](const ClaimRow& claim) { return claim.startedWallNs != 0; });
    return last != claims.rend() && last->isLeftBehind;
}

} // namespace

Result<std::int64_t> givenUpChunks(const ResumeEffect& effect, LedgerReader& reader)
{
    std::int64_t count = 0;
    for (const auto& epoch : effect.epochs)
        for (const ChunkCell& cell : epoch.cells) {
            if (effect.fateOf(cell) != ChunkFate::Lost)
                continue;
            if (std::binary_search(effect.partsLost.begin(), effect.partsLost.end(), cell.id)) {
                ++count;
                continue;
            }
            FURROW_TRY_ASSIGN(const bool leftBehind, wasLeftBehind(cell.id, reader));
            count += leftBehind ? 1 : 0;
        }
    return count;
}

} // namespace furrow
