#include "core/run/audit/tracker_damage.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/base/told.h"
#include "core/run/audit/begun_with.h"
#include "core/run/audit/block_plans.h"
#include "core/run/audit/data_end.h"
#include "core/run/audit/parent_list.h"
#include "core/run/audit/proven_parts.h"
#include "core/run/audit/proven_rows.h"
#include "core/run/audit/untrained_chunks.h"
#include "core/run/folder/foreign_ledger.h"
#include "core/run/folder/left_out_chunks.h"
#include "core/tracker/each_block.h"
#include "core/tracker/ledger_reader.h"
#include "core/tracker/schema.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace furrow {

bool saysNothing(const Error& error)
{
    return error.code == ErrorCode::Io || error.code == ErrorCode::Busy || error.code == ErrorCode::Cancelled;
}

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

namespace {

/// Of a file that the disk did not give, or that is locked, nothing is known; every other error is damage.
Result<Message> told(const Error& error) { return saysNothing(error) ? Result<Message>(error) : error.message; }

/// Names that lead out of the run folder and plans that nobody made: a tracker that was tampered with.
Result<Message> damageOfRows(const std::filesystem::path& tracker)
{
    auto reader = LedgerReader::open(tracker);
    if (!reader.ok())
        return told(reader.error());
    if (auto rows = reader.value().checkpoints(); !rows.ok())
        return told(rows.error());
    BlockPlans plans;
    const auto look = [&](const LedgerReader::BlockRow& row) -> Status {
        if (!row.fileName.empty() && !isPlainName(row.fileName))
            FURROW_TRY(reader.value().block(row.block)); // has the sentence
        return plans.look(row);
    };
    const Status blocks = forEachBlock(reader.value(), LedgerReader::Blocks::Known, look);
    if (!blocks.ok() && blocks.error().code == ErrorCode::InvalidArgument) // of a newer Furrow
        return blocks.error();
    return blocks.ok() ? Result<Message>(Message()) : told(blocks.error());
}

/// Of a tracker of this run, by its audit.
Result<Message> damageIn(const std::filesystem::path& tracker, const AuditReport& report)
{
    return report.isClean() ? damageOfRows(tracker) : firstFault(report);
}

/// A resume reads no more of them: seconds. Each further one the feeder compares when it prepares it again, and a
/// worker trains no chunk by another number of windows than it finds.
constexpr std::uint64_t kBlocksOfAResume = 512 << 20;

/// What else a tracker has that is not as run.json, the manifests of the checkpoints and the prepared blocks say.
Result<Message> contradictionIn(const RunPaths& paths, const RunFile& file, const std::filesystem::path& tracker,
    std::uint64_t mostOfBlocks, BlocksRead* known = nullptr)
{
    FURROW_TRY_ASSIGN(auto reader, LedgerReader::open(tracker));
    FURROW_TRY_ASSIGN(auto missing, missingRecord(file, reader));
    if (!missing.empty())
        return missing;
    FURROW_TRY_ASSIGN(auto takenOut, blocksTakenOut(paths, file, reader));
    if (!takenOut.empty())
        return takenOut;
    FURROW_TRY_ASSIGN(auto other, differenceFromParentList(paths, file, tracker));
    if (!other.empty())
        return other;
    FURROW_TRY_ASSIGN(auto denied, differenceFromManifests(paths, file.runId, reader));
    if (!denied.empty())
        return denied;
    FURROW_TRY_ASSIGN(const auto untrained, differenceFromBlocks(paths, file, reader, mostOfBlocks, known));
    return untrained.empty() ? Message() : inWords(untrained.front(), sentence("the prepared block"));
}

} // namespace

Result<Message> damageOf(
    const RunPaths& paths, const std::filesystem::path& tracker, const RunFile& file, BlocksRead* known)
{
    if (auto foreign = foreignLedger(tracker, file.runId); !foreign.empty()) // whatever else it says
        return foreign;
    auto report = audit(tracker);
    if (!report.ok())
        return saysNothing(report.error()) || tells(report.error().message, { kNewerTracker })
            ? Result<Message>(report.error())
            : report.error().message;
    FURROW_TRY_ASSIGN(auto damage, damageIn(tracker, report.value()));
    if (!damage.empty())
        return damage;
    return contradictionIn(paths, file, tracker, kAllOfTheCache, known);
}

Result<bool> isWhole(
    const RunPaths& paths, const std::filesystem::path& tracker, const RunFile& file, BlocksRead* known)
{
    FURROW_TRY_ASSIGN(const auto damage, damageOf(paths, tracker, file, known));
    return damage.empty();
}

Result<Message> trackerDamage(const RunPaths& paths)
{
    FURROW_TRY_ASSIGN(const auto file, readRunFile(paths));
    return damageOf(paths, paths.tracker(), file);
}

Message costsOfRepair(const RunFile& file)
{
    if (file.config.noiseMultiplier <= 0)
        return {};
    return sentence(
        "This run trains with noise. A tracker made anew, or taken forward, does not know every training that was lost before: no epsilon can be stated of the run any more, and no limit of epsilon be kept. A copy of the tracker that is whole and as new as the weights, put back in its place, keeps both.");
}

namespace {

Message refusal(const RunPaths& paths, const Message& damage)
{
    const auto folder = utf8Text(paths.folder());
    return sentence(
        "The tracker of %1 is damaged: %2. Nothing was changed. 'furrowctl audit %3' says all that is wrong, 'furrowctl doctor %4 --repair' rebuilds what the checkpoints prove.",
        { folder, damage, folder, folder });
}

} // namespace

Message trackerRefusal(const RunPaths& paths, const RunFile& file, const Result<AuditReport>& report)
{
    if (!report.ok())
        return report.error().code == ErrorCode::Corrupt ? report.error().message : Message();
    auto damage = damageIn(paths.tracker(), report.value());
    if (damage.ok() && damage.value().empty())
        damage = contradictionIn(paths, file, paths.tracker(), kBlocksOfAResume);
    return damage.ok() && !damage.value().empty() ? refusal(paths, damage.value()) : Message();
}

Result<LostProof> LostProof::find(const RunPaths& paths, const RunFile& file, LedgerReader& reader)
{
    FURROW_TRY_ASSIGN(const auto rows, reader.checkpoints());
    FURROW_TRY_ASSIGN(const auto record, damagedLeftOut(paths, file.runId));
    const auto folder = utf8Text(paths.folder());
    LostProof lost;
    lost.from_[{ std::numeric_limits<std::int64_t>::min() }] = record
        ? sentence(
              "%1, a record of what a person left out, is damaged: a tracker that is older than it would train those chunks. Nothing was changed. Put it back from a copy of the run and resume; or, when 'furrowctl audit %2' calls all of these chunks excluded, move it away; or 'furrowctl resume %3 --accept-loss' goes on by the tracker alone.",
              { utf8Text(*record), folder, folder })
        : Message();
    if (const auto other = askPublished(paths, file.runId, rows).other)
        lost.from_[other->checkpoint] = sentence(
            "What went into the weights of %1 cannot be held against its proof: %2. Nothing was changed. Put the manifest and the tracker back from a copy of the run and resume; or 'furrowctl resume %3 --accept-loss' goes on by the tracker alone, and nothing says so any more.",
            { folder, other->problem, folder });
    const auto faults = manifestFaults(paths, rows);
    for (const auto& other : faults.otherThanChildrenSay)
        lost.from_.try_emplace(other.checkpoint,
            sentence(
                "Checkpoints of %1 contradict each other: %2. Nothing was changed. Put both and the tracker back from a copy of the run and resume, or go back to a checkpoint that is older than both; or 'furrowctl resume %3 --accept-loss' goes on by the tracker alone, and 'furrowctl audit %4' goes on saying so.",
                { folder, other.problem, folder, folder }));
    if (const auto& other = faults.other) {
        lost.from_.erase(lost.from_.lower_bound(other->checkpoint), lost.from_.end());
        lost.from_[other->checkpoint] = sentence(
            "What went into the weights of %1 cannot be held against its proof: %2. Nothing was changed. Put the manifest back from a copy of the run and resume; or 'furrowctl resume %3 --accept-loss' goes on by the tracker alone, and 'furrowctl audit %4' goes on saying so.",
            { folder, other->problem, folder, folder });
    }
    return lost;
}

const Message& LostProof::of(std::optional<CheckpointId> goBackTo) const
{
    return std::prev(goBackTo ? from_.upper_bound(*goBackTo) : from_.end())->second;
}

Result<Message> lostProof(
    const RunPaths& paths, const RunFile& file, LedgerReader& reader, std::optional<CheckpointId> goBackTo)
{
    FURROW_TRY_ASSIGN(const auto lost, LostProof::find(paths, file, reader));
    return lost.of(goBackTo);
}

} // namespace furrow
