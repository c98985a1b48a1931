#include "core/run/start/given_up_chunks.h"

#include "core/tracker/given_up.h"

#include <algorithm>

namespace furrow {

Result<GivenUpChunks> givenUpChunks(const ResumeEffect& effect, LedgerReader& reader)
{
    GivenUpChunks count;
    if (effect[ChunkFate::Lost] == 0)
        return count;
    FURROW_TRY_ASSIGN(const auto before, reader.givenUpByCheckpoints());
    for (const auto& epoch : effect.epochs)
        for (const ChunkCell& cell : epoch.cells) {
            if (effect.fateOf(cell) != ChunkFate::Lost)
                continue;
            if (std::binary_search(effect.partsLost.begin(), effect.partsLost.end(), cell.id)) {
                ++count.now;
                continue;
            }
            if (const auto* found = findGivenUp(before, cell.id))
                ++(found->wentBack ? count.wentBack : count.damaged);
        }
    return count;
}

} // namespace furrow
