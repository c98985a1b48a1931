#include "core/run/status/measured_export.h"

#include "core/run/status/ledger_view.h"
#include "core/run/status/lost_trainings.h"
#include "core/run/status/run_status.h"
#include "core/telemetry/export.h"

#include <vector>

namespace furrow {

namespace {

constexpr int kClaimsAtOnce = 10'000;

} // namespace

Result<std::int64_t> exportMeasured(const RunPaths& paths, const std::string& format, const std::filesystem::path& out)
{
    FURROW_TRY_ASSIGN(auto ledger, openLedger(paths, ReadFor::Long));
    FURROW_TRY_ASSIGN(auto status, readStatus(paths, ledger));
    std::vector<ClaimRow> claims;
    for (;;) {
        FURROW_TRY_ASSIGN(auto some, ledger.claimsSince(claims.empty() ? 0 : claims.back().claimId, kClaimsAtOnce));
        if (some.empty())
            break;
        claims.insert(claims.end(), some.begin(), some.end());
    }
    ExportView view;
    view.chunkName = [](std::int64_t chunk) {
        const ChunkPlace place = placeOf({ chunk });
        return std::to_string(place.block) + ":" + std::to_string(place.column);
    };
    LostSteps steps(lostTrainings(claims, status.goneHolds));
    view.isLost = [&steps](const PlacedRecord& at) { return at.line.kind == LineKind::Step && steps.has(at); };
    return exportTelemetry(paths.telemetryFolder(), format, out, view);
}

} // namespace furrow
