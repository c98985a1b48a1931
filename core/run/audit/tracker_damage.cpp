#include "core/run/audit/tracker_damage.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/base/told.h"
#include "core/run/audit/proven_parts.h"
#include "core/run/folder/foreign_ledger.h"
#include "core/tracker/ledger_reader.h"
#include "core/tracker/schema.h"

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

/// Of a tracker of this run, by its audit.
Result<Message> damageIn(const std::filesystem::path& tracker, const AuditReport& report)
{
    return report.isClean() ? damageOfNames(tracker) : firstFault(report);
}

} // namespace

bool saysNothing(const Error& error)
{
    return error.code == ErrorCode::Io || error.code == ErrorCode::Busy || error.code == ErrorCode::Cancelled;
}

Result<Message> damageOf(const RunPaths& paths, const std::filesystem::path& tracker, const std::string& runId)
{
    if (auto foreign = foreignLedger(tracker, runId); !foreign.empty()) // whatever else it says
        return foreign;
    auto report = audit(tracker);
    if (!report.ok())
        return saysNothing(report.error()) || tells(report.error().message, { kNewerTracker })
            ? Result<Message>(report.error())
            : report.error().message;
    FURROW_TRY_ASSIGN(auto damage, damageIn(tracker, report.value()));
    if (!damage.empty())
        return damage;
    FURROW_TRY_ASSIGN(auto reader, LedgerReader::open(tracker));
    return differenceFromManifests(paths, reader);
}

Result<bool> isWhole(const RunPaths& paths, const std::filesystem::path& tracker, const std::string& runId)
{
    FURROW_TRY_ASSIGN(const auto damage, damageOf(paths, tracker, runId));
    return damage.empty();
}

Result<Message> trackerDamage(const RunPaths& paths)
{
    FURROW_TRY_ASSIGN(const auto file, readRunFile(paths));
    return damageOf(paths, paths.tracker(), file.runId);
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
    const auto damage = damageIn(paths.tracker(), report.value());
    if (!damage.ok() || damage.value().empty())
        return {};
    const auto folder = utf8Text(paths.folder());
    return sentence(
        "The tracker of %1 is damaged: %2. Nothing was changed. 'furrowctl audit %3' says all that is wrong, 'furrowctl doctor %4 --repair' rebuilds what the checkpoints prove.",
        { folder, damage.value(), folder, folder });
}

} // namespace furrow
