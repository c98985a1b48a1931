#include "core/run/measured_export.h"

#include "core/run/ledger_view.h"
#include "core/run/lost_trainings.h"
#include "core/run/run_status.h"
#include "core/telemetry/export.h"

namespace furrow {

namespace {
constexpr int kClaimsAtOnce = 10'000;
}

Result<std::int64_t> exportMeasured(const RunPaths& paths, const std::string& format, const std::filesystem::path& out)
{
    auto ledger = openLedger(paths);
    if (!ledger.ok())
        return ledger.error();
    auto status = readStatus(paths, ledger.value());
    if (!status.ok())
        return status.error();
    std::vector<LostTraining> lost;
    for (std::int64_t last = 0;;) {
        auto claims = ledger.value().claimsSince(last, kClaimsAtOnce);
        if (!claims.ok())
            return claims.error();
        if (claims.value().empty())
            break;
        last = claims.value().back().claimId;
        const auto some = lostTrainings(claims.value(), status.value().goneHolds);
        lost.insert(lost.end(), some.begin(), some.end());
    }
    ExportView view;
    view.chunkName = [](std::int64_t chunk) {
        const ChunkPlace place = placeOf({ chunk });
        return std::to_string(place.block) + ":" + std::to_string(place.column);
    };
    view.isLost = [&lost](const PlacedRecord& at) {
        return at.line.kind == LineKind::Step && isLostStep(lost, at.header.worker, at.header.attempt, at.line.step.chunk, at.wall);
    };
    return exportTelemetry(paths.telemetryFolder(), format, out, view);
}

} // namespace furrow
