#include "core/run/status/measured_export.h"

#include "core/run/folder/before_writing.h"
#include "core/run/status/ledger_view.h"
#include "core/run/status/lost_evaluations.h"
#include "core/run/status/lost_trainings.h"
#include "core/run/status/run_history.h"
#include "core/run/status/run_status.h"
#include "core/telemetry/export.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace furrow {

namespace {

constexpr int kRowsAtOnce = 10'000;
constexpr double kNsPerSecond = 1e9;

std::string wordOf(HistoryEntry::Kind kind)
{
    switch (kind) {
    case HistoryEntry::Kind::AttemptBegan: return "attempt_began";
    case HistoryEntry::Kind::AttemptEnded: return "attempt_ended";
    case HistoryEntry::Kind::WorkerDied: return "worker_died";
    case HistoryEntry::Kind::WorkerStartedAgain: return "worker_started_again";
    }
    return {};
}

/// What happened to the run, its attempts and its workers: the list that the console shows.
Result<std::vector<RunEvent>> eventsOf(LedgerReader& ledger)
{
    FURROW_TRY_ASSIGN(const auto attempts, ledger.attempts());
    FURROW_TRY_ASSIGN(const auto incarnations, ledger.incarnations());
    std::vector<RunEvent> found;
    for (const HistoryEntry& entry : historyOf(attempts, incarnations)) {
        RunEvent event { static_cast<double>(entry.wallNs) / kNsPerSecond, entry.attempt.value, {}, wordOf(entry.kind),
            entry.text };
        if (entry.incarnation.value != 0)
            event.worker = entry.worker;
        found.push_back(std::move(event));
    }
    for (std::int64_t seq = 0;;) {
        FURROW_TRY_ASSIGN(const auto some, ledger.eventsSince(seq, kRowsAtOnce));
        if (some.empty())
            return found;
        seq = some.back().seq;
        for (const EventRow& event : some)
            if (event.chunk.value == 0)
                found.push_back({ static_cast<double>(event.wallNs) / kNsPerSecond, {}, {}, "run", event.cause });
    }
}

} // namespace

Result<std::int64_t> exportMeasured(const RunPaths& paths, MeasuredFormat format, const std::filesystem::path& out)
{
    FURROW_TRY(beforeExportingTo(paths, out));
    FURROW_TRY_ASSIGN(auto ledger, openLedger(paths, ReadFor::Long));
    FURROW_TRY_ASSIGN(auto status, readStatus(paths, ledger));
    std::vector<ClaimRow> claims;
    for (;;) {
        FURROW_TRY_ASSIGN(auto some, ledger.claimsSince(claims.empty() ? 0 : claims.back().claimId, kRowsAtOnce));
        if (some.empty())
            break;
        claims.insert(claims.end(), some.begin(), some.end());
    }
    ExportView view;
    view.chunkName = [](std::int64_t chunk) {
        const ChunkPlace place = placeOf({ chunk });
        return std::to_string(place.block) + ":" + std::to_string(place.column);
    };
    FURROW_TRY_ASSIGN(view.events, eventsOf(ledger));
    FURROW_TRY_ASSIGN(auto checkpoints, ledger.checkpoints());
    LostSteps steps(lostTrainings(claims, status.goneHolds));
    LostEvaluations evaluations(std::move(checkpoints));
    view.isLost = [&](const PlacedRecord& at) {
        if (at.line.kind == LineKind::Eval)
            return evaluations.has(at);
        const bool isLost = steps.has(at);
        evaluations.tell(at, isLost);
        return isLost;
    };
    return exportTelemetry(paths.telemetryFolder(), format, out, view);
}

} // namespace furrow
