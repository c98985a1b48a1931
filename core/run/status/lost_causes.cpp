#include "core/run/status/lost_causes.h"

#include "core/base/sentence.h"
#include "core/tracker/given_up.h"

#include <algorithm>

namespace furrow {

Result<LostCauses> lostCauses(LedgerReader& ledger, const std::vector<EpochRow>& epochs)
{
    LostCauses causes;
    std::int64_t lost = 0;
    for (const EpochRow& epoch : epochs)
        lost += epoch.lost.sum();
    if (lost == 0)
        return causes;
    FURROW_TRY_ASSIGN(const auto givenUp, givenUpByCheckpoints(ledger.file()));
    for (const EpochRow& epoch : epochs) {
        if (epoch.lost.pending + epoch.lost.free == 0 || givenUp.empty()) // the others are held by processes that died
            continue;
        FURROW_TRY_ASSIGN(const auto cells, ledger.takenUpOnce(epoch.epoch));
        for (const ChunkCell& cell : cells) {
            const auto found = std::lower_bound(givenUp.begin(), givenUp.end(), cell.id,
                [](const GivenUpChunk& one, ChunkId chunk) { return one.chunk < chunk; });
            if (isWorkLost(cell) && found != givenUp.end() && found->chunk == cell.id)
                ++(found->wentBack ? causes.wentBack : causes.damaged);
        }
    }
    causes.died = std::max<std::int64_t>(0, lost - causes.sum());
    return causes;
}

std::vector<Message> inWords(const LostCauses& causes)
{
    std::vector<Message> words;
    const auto say = [&words](std::int64_t n, const Message& one, const Message& many) {
        if (n > 0)
            words.push_back(n == 1 ? one : many);
    };
    say(causes.died, sentence("1 as its worker ended before a checkpoint had it"),
        sentence("%1 as their workers ended before a checkpoint had them", { Count(causes.died) }));
    say(causes.wentBack, sentence("1 as the run went back to an older checkpoint"),
        sentence("%1 as the run went back to an older checkpoint", { Count(causes.wentBack) }));
    say(causes.damaged, sentence("1 as the checkpoint that had it was damaged, gone or left out of a merge"),
        sentence("%1 as the checkpoints that had them were damaged, gone or left out of a merge",
            { Count(causes.damaged) }));
    return words;
}

} // namespace furrow
