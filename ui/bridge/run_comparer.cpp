#include "ui/bridge/run_comparer.h"

#include "core/base/path.h"
#include "core/telemetry/run_telemetry.h"

namespace furrow {

namespace {

SnapshotPtr curvesOf(const RunPaths& paths, const std::function<bool()>& wanted)
{
    RunTelemetry telemetry(paths.telemetryFolder(), paths.viewCacheFolder() / "columns.bin");
    (void)telemetry.loadCache();
    while (wanted() && telemetry.poll()) { }
    return telemetry.snapshot();
}

std::vector<LostTraining> lostOf(LedgerReader& ledger, const RunStatus& status)
{
    constexpr int kMostAtOnce = 20'000;
    std::vector<ClaimRow> claims;
    for (;;) {
        auto more = ledger.claimsSince(claims.empty() ? 0 : claims.back().claimId, kMostAtOnce);
        if (!more.ok() || more.value().empty())
            return lostTrainings(claims, status.goneHolds);
        claims.insert(claims.end(), more.value().begin(), more.value().end());
    }
}

std::shared_ptr<const ComparedRuns> read(
    const std::vector<std::filesystem::path>& folders, const std::function<bool()>& wanted)
{
    auto result = std::make_shared<ComparedRuns>();
    auto comparison = compareRuns(folders);
    if (!comparison.ok()) {
        result->problem = comparison.error().message;
        return result;
    }
    result->comparison = std::move(comparison).value();
    for (const auto& folder : folders) {
        const RunPaths paths(folder);
        result->curves.push_back(curvesOf(paths, wanted));
        auto ledger = openLedger(paths);
        auto cells = ledger.ok() ? ledger.value().cells(0) : Result<std::vector<ChunkCell>>(ledger.error());
        result->lost.push_back(ledger.ok() ? lostOf(ledger.value(), result->comparison.runs[result->lost.size()].status)
                                           : std::vector<LostTraining> {});
        if (cells.ok()) // as the figures beside the map
            (void)takeOutLost(cells.value(), result->comparison.runs[result->cells.size()].status);
        result->cells.push_back(cells.ok() ? std::move(cells).value() : std::vector<ChunkCell> {});
    }
    return result;
}

} // namespace

RunComparer::RunComparer(QObject* parent)
    : QObject(parent)
{
    qRegisterMetaType<ComparedRunsPtr>();
}

void RunComparer::compare(const QStringList& folders)
{
    std::vector<std::filesystem::path> paths;
    for (const QString& folder : folders)
        paths.push_back(pathFromUtf8(folder.toStdString()));
    request_.start([paths](const NewestRequest::IsWanted& isWanted) { return read(paths, isWanted); },
        [this](const ComparedRunsPtr& result) { Q_EMIT compared(result); });
}

} // namespace furrow
