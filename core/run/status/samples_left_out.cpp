#include "core/run/status/samples_left_out.h"

#include "core/tracker/left_out_samples.h"

#include <algorithm>

namespace furrow {

void takeOutLeftOut(std::vector<EpochRow>& epochs, const LedgerReader& ledger)
{
    const auto leftOut = samplesLeftOut(ledger.file());
    if (!leftOut.ok())
        return;
    for (EpochRow& epoch : epochs)
        if (const auto of = leftOut.value().find(epoch.epoch); of != leftOut.value().end())
            epoch.rowsCommitted.samples -= std::min(epoch.rowsCommitted.samples, of->second);
}

std::int64_t samplesLeftOut(const RowCounts& committed)
{
    const std::int64_t counted
        = committed.samples + committed.filtered + committed.failed + committed.heldOut + committed.duplicates;
    return std::max<std::int64_t>(0, committed.rows - counted);
}

} // namespace furrow
