#include "core/run/audit/tracker_damage.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/run/folder/foreign_ledger.h"
#include "core/tracker/ledger_reader.h"

#include <algorithm>

namespace furrow {

namespace {

/// Names that lead out of the run folder: a tracker that was tampered with.
Result<Message> damageOfNames(const std::filesystem::path& tracker)
{
    const auto told = [](const Error& error) { return saysNothing(error) ? Result<Message>(error) : error.message; };
    auto reader = LedgerReader::open(tracker);
    if (!reader.ok())
        return told(reader.error());
    if (auto rows = reader.value().checkpoints(); !rows.ok())
        return told(rows.error());
    auto epochs = reader.value().epochs();
    const auto blocks = epochs.ok() && !epochs.value().empty() ? epochs.value().back().knownBlocks : 0;
    for (std::int64_t block = 0; block < blocks; ++block)
        if (auto row = reader.value().block(block); !row.ok())
            return told(row.error());
    return Message();
}

/// Of a ledger that is not in order.
Message firstFault(const AuditReport& report)
{
    constexpr FindingKind kNoFaults[] { FindingKind::Poisoned, FindingKind::Accepted, FindingKind::Excluded,
        FindingKind::Parent, FindingKind::Lost, FindingKind::Rebuilt };
    if (!report.integrityOk)
        return report.integrity;
    const auto fault = std::find_if(report.findings.begin(), report.findings.end(),
        [&](const AuditFinding& one) { return std::ranges::find(kNoFaults, one.kind) == std::end(kNoFaults); });
    return fault == report.findings.end() ? "the audit finds it broken" : fault->text;
}

} // namespace

bool saysNothing(const Error& error)
{
    return error.code == ErrorCode::Io || error.code == ErrorCode::Busy || error.code == ErrorCode::Cancelled;
}

Result<Message> damageOf(const std::filesystem::path& tracker, const std::string& runId)
{
    if (auto foreign = foreignLedger(tracker, runId); !foreign.empty()) // whatever else it says
        return foreign;
    auto report = audit(tracker);
    if (!report.ok())
        return saysNothing(report.error()) ? Result<Message>(report.error()) : report.error().message;
    return report.value().isClean() ? damageOfNames(tracker) : firstFault(report.value());
}

Result<bool> isWhole(const std::filesystem::path& tracker, const std::string& runId)
{
    FURROW_TRY_ASSIGN(const auto damage, damageOf(tracker, runId));
    return damage.empty();
}

Result<Message> trackerDamage(const RunPaths& paths)
{
    FURROW_TRY_ASSIGN(const auto file, readRunFile(paths));
    return damageOf(paths.tracker(), file.runId);
}

Message costsOfRepair(const RunFile& file)
{
    if (file.config.noiseMultiplier <= 0)
        return {};
    return sentence(
        "This run trains with noise. A tracker made anew, or taken forward, does not know every training that was lost before: no epsilon can be stated of the run any more, and no limit of epsilon be kept. A copy of the tracker that is whole and as new as the weights, put back in its place, keeps both.");
}

Message trackerRefusal(const RunPaths& paths, const Result<AuditReport>& report)
{
    if (!report.ok())
        return report.error().code == ErrorCode::Corrupt ? report.error().message : Message();
    if (report.value().canTrain())
        return {};
    const auto folder = utf8Text(paths.folder());
    return sentence(
        "The tracker of %1 is damaged: %2. Nothing was changed. 'furrowctl audit %3' says all that is wrong, 'furrowctl doctor %4 --repair' rebuilds what the checkpoints prove.",
        { folder, firstFault(report.value()), folder, folder });
}

} // namespace furrow
