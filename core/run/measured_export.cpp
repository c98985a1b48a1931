#include "core/run/measured_export.h"

#include "core/run/ledger_view.h"
#include "core/run/lost_trainings.h"
#include "core/run/run_status.h"
#include "core/telemetry/export.h"

#include <map>
#include <vector>

namespace furrow {

namespace {

constexpr int kClaimsAtOnce = 10'000;

/// Judges the steps of a run in the order in which they were made.
class LostSteps {
public:
    explicit LostSteps(std::vector<LostTraining> lost)
        : lost_(std::move(lost))
    {
    }
    bool has(const PlacedRecord& at)
    {
        const StepRecord& step = at.line.step;
        const LostTraining* training = lostTrainingAt(lost_, at.header.worker, at.header.attempt, step.chunk, at.wall);
        if (training == nullptr)
            return false;
        const auto first = firstSteps_.try_emplace(training, step.step).first->second;
        return step.step - first >= training->keptSteps;
    }

private:
    std::vector<LostTraining> lost_;
    std::map<const LostTraining*, std::int64_t> firstSteps_;
};

} // namespace

Result<std::int64_t> exportMeasured(const RunPaths& paths, const std::string& format, const std::filesystem::path& out)
{
    FURROW_TRY_ASSIGN(auto ledger, openLedger(paths));
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
