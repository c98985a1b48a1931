#include "core/run/start/recovery.h"

#include "core/base/clock.h"
#include "core/base/file_system.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/plain_line.h"
#include "core/base/sentence.h"
#include "core/run/folder/checkpoint_manifest.h"
#include "core/run/folder/checkpoint_notes.h"
#include "core/run/folder/finite_weights.h"
#include "core/run/folder/foreign_ledger.h"
#include "core/run/folder/kept_states.h"
#include "core/run/folder/known_aside.h"
#include "core/run/folder/left_out_chunks.h"
#include "core/run/folder/removed_weights.h"
#include "core/run/folder/run_links.h"
#include "core/run/folder/stray_checkpoints.h"
#include "core/run/start/resume_effect.h"
#include "core/run/status/ledger_view.h"
#include "core/run/status/own_process.h"
#include "core/tracker/sqlite/tracker_locks.h"
#include "core/tracker/training_notes.h"
#include "core/tracker/worker_ends.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <thread>
#include <utility>

namespace furrow {

namespace {

using Notes = std::vector<Message>;

/// Workers of a dead supervisor see their pipe close, checkpoint and end. They get this long before they are killed.
constexpr auto kOrphanPatience = std::chrono::seconds(20);

bool isAnyHidden(const std::vector<SupervisorLedger::Expired>& workers)
{
    return std::any_of(workers.begin(), workers.end(),
        [](const auto& one) { return isHidden(one.process) && one.overdueSeconds <= 0; });
}

/// Nobody here can end workers of another container. They save and end by themselves, as all do whose supervisor is
/// gone; a lease that is over, or that nobody else has the tracker open, says that they are gone.
Status waitForHidden(const RunPaths& paths, SupervisorLedger& ledger)
{
    FURROW_TRY_ASSIGN(auto live, ledger.live());
    if (!isAnyHidden(live))
        return {};
    const TrackerUsers users(paths.tracker());
    if (users.mayBeOthers())
        logInfo(
            "Workers of the attempt before may live where they cannot be seen from here, perhaps in another container. "
            "They have until the end of their leases to save what they trained.");
    while (isAnyHidden(live) && users.mayBeOthers()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        FURROW_TRY_ASSIGN(live, ledger.live());
    }
    return {};
}

/// @param deadline  until then it may save what it has and end by itself
void endProcess(const RunPaths& paths, const ProcessIdentity& process, std::chrono::steady_clock::time_point deadline)
{
    while (isOwnProcess(paths, process) && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    killOwnProcess(paths, process);
}

Status endOrphans(const RunPaths& paths, SupervisorLedger& ledger, Notes& notes)
{
    FURROW_TRY(waitForHidden(paths, ledger));
    const auto deadline = std::chrono::steady_clock::now() + kOrphanPatience;
    FURROW_TRY_ASSIGN(auto live, ledger.live());
    for (const auto& orphan : live) {
        const bool wasGone = !isOwnProcess(paths, orphan.process); // it died unnoticed, perhaps long ago
        endProcess(paths, orphan.process, deadline);
        const Message cause = wasGone
            ? sentence(kFoundDead, { WallTime(orphan.lastSeenWallNs), WallTime(systemClock().wallNs()) })
            : sentence(kSupervisorGone);
        FURROW_TRY_ASSIGN(auto freed, ledger.revoke(orphan.incarnation, cause, wasGone ? orphan.lastSeenWallNs : 0));
        if (freed > 0)
            notes.push_back("Worker " + std::to_string(orphan.worker) + " of the attempt before left "
                + std::to_string(freed) + " chunks without a checkpoint; they are free again.");
    }
    return {};
}

/// Before anything is changed: weights that the tracker does not know are not left behind unasked.
Status checkTrackerIsNewest(
    const RunPaths& paths, const RunFile& file, const ResumeChoice& choice, const Patience& patience)
{
    FURROW_TRY_ASSIGN(auto problem, olderTrackerProblem(paths, file.runId));
    if (problem.empty())
        return {};
    if (!choice.acceptLoss)
        return refuseOlderTracker(paths, file.runId);
    return file.config.noiseMultiplier > 0 ? keepHistoryLost(paths.tracker(), systemClock(), patience) : Status {};
}

/// What this tracker knows and a resume by an older one had moved away. Before anybody asks for the newest weights.
Status takeBackMoved(const RunPaths& paths, SupervisorLedger& ledger, Notes& notes, FileSystem& files)
{
    FURROW_TRY_ASSIGN(const auto rows, ledger.checkpoints());
    FURROW_TRY_ASSIGN(auto moved, takeBackAside(paths, rows, files));
    if (!moved.empty())
        notes.push_back(std::move(moved));
    return {};
}

/// Files that were taken for damaged, or were lost with a person's yes, and are there again. Oldest first: what was
/// made from another comes back behind it.
Status takeBackWhole(const RunPaths& paths, const RunFile& file, SupervisorLedger& ledger, Notes& notes)
{
    FURROW_TRY_ASSIGN(auto rows, ledger.checkpoints());
    FURROW_TRY_ASSIGN(auto left, ledger.leftBehind());
    FrozenVerdicts frozen;
    for (const auto& row : rows) {
        const bool isLeft = std::find(left.begin(), left.end(), row.id) != left.end();
        if ((!row.damaged && !isLeft) || row.removed
            || !verifyTrainable(
                paths.checkpointFolder(row.record.folder), row.record.manifestSha256, file.runId, &frozen)
                .ok())
            continue;
        FURROW_TRY_ASSIGN(auto back, ledger.takeBack(row.id));
        if (!row.damaged && !back)
            continue; // it was said before
        notes.push_back(back == 1
                ? sentence("Checkpoint %1 was marked damaged and is whole: it is taken back with 1 chunk.",
                      { row.record.folder })
                : back
                ? sentence("Checkpoint %1 was marked damaged and is whole: it is taken back with %2 chunks.",
                      { row.record.folder, std::to_string(*back) })
                : sentence(
                      "Checkpoint %1 was marked damaged and is whole. The run went on without it, so it stays out of the weights; a new run can start from it.",
                      { row.record.folder }));
    }
    return {};
}

/// What dead processes of this run had begun goes, and what the keep policy was removing when the power went.
/// Everything else that has no row is put aside, also what they had finished.
Status sweepCheckpoints(
    const RunPaths& paths, const RunFile& file, SupervisorLedger& ledger, Notes& notes, FileSystem& files)
{
    FURROW_TRY_ASSIGN(auto rows, ledger.checkpoints());
    FURROW_TRY_ASSIGN(auto strays, findStrays(paths, file.runId, [&rows] { return rows; }));
    for (const auto& leftover : strays.leftovers) {
        FURROW_TRY_ASSIGN(auto left, removeOwnFiles(paths, leftover, files));
        if (!left.empty())
            notes.push_back(left);
    }
    FURROW_TRY_ASSIGN(auto finished, putAside(paths, strays.finished, files));
    if (!finished.empty())
        notes.push_back(finished);
    for (const auto& name : strays.notes)
        forgetWriting(paths, name, files);
    FURROW_TRY_ASSIGN(auto settled, settleRemoved(paths, file.runId, ledger, files));
    notes.insert(notes.end(), settled.begin(), settled.end());
    if (!strays.leftovers.empty())
        notes.push_back(
            sentence("%1 unfinished checkpoint folders were removed.", { std::to_string(strays.leftovers.size()) }));
    for (const auto& link : strays.links)
        notes.push_back(sentence("%1 is a link and was left as it is.", { utf8Text(link) }));
    FURROW_TRY_ASSIGN(auto aside, putAsideWithoutRow(paths, file.runId, rows, files));
    if (!aside.empty())
        notes.push_back(aside);
    return prepareNotes(paths, files);
}

Message refusalOf(const RunPaths& paths, const Error& problem)
{
    return sentence("%1 Nothing was changed.", { withFullStop(problem.message) }) + " " + waysPast(paths, problem);
}

Error stateRefusal(const RunPaths& paths, const Error& problem)
{
    return { problem.code,
        sentence("%1 Nothing was changed.", { problem.message }) + " " + waysPastState(paths, problem) };
}

/// Before the ledger leaves what is newer: going back chooses older weights, and gives up nothing else unasked.
Status checkGoingBack(const RunPaths& paths, const RunFile& file, CheckpointId checkpoint)
{
    FURROW_TRY_ASSIGN(auto reader, openLedger(paths));
    FURROW_TRY_ASSIGN(const auto now, readReplicaHeads(reader));
    FrozenVerdicts frozen;
    std::optional<Error> problem;
    const auto isWhole = [&](CheckpointId id) {
        const auto row = std::ranges::find(now.checkpoints, id, &SupervisorLedger::CheckpointRow::id);
        const auto verdict = verifyTrainable(
            paths.checkpointFolder(row->record.folder), row->record.manifestSha256, file.runId, &frozen);
        if (!verdict.ok() && !problem)
            problem = verdict.error();
        return verdict.ok();
    };
    FURROW_TRY_ASSIGN(const auto weights, weightsAfterResume(reader, checkpoint, { isWhole, {} }));
    if (problem)
        return Error { problem->code, refusalOf(paths, *problem) };
    FURROW_TRY_ASSIGN(const MergeMethod merge, mergeInForce(reader, file.config));
    for (const auto& state : keptStatesAfter(now, weights, merge))
        if (const auto verdict = verifyKeptState(paths, file.runId, state); !verdict.ok())
            return stateRefusal(paths, verdict.error());
    return {};
}

/// What goes on without a state says so in the log and in an event.
Status checkStates(
    const RunPaths& paths, const RunFile& file, const ResumeChoice& choice, const Patience& patience, Notes& notes)
{
    FURROW_TRY_ASSIGN(auto reader, openLedger(paths));
    FURROW_TRY_ASSIGN(const auto states, keptStates(reader, file.config));
    Notes without;
    for (const auto& state : states) {
        const auto verdict = verifyKeptState(paths, file.runId, state);
        if (verdict.ok())
            continue;
        const Error& problem = verdict.error();
        if (!choice.acceptLoss)
            return stateRefusal(paths, problem);
        without.push_back(sentence("The run goes on without what could not be read: %1", { problem.message }));
    }
    notes.insert(notes.end(), without.begin(), without.end());
    FURROW_TRY_ASSIGN(const auto before, reader.goesOnWithout());
    return without.empty() && before.empty() ? Status {} : keepGoesOnWithout(paths.tracker(), without, patience);
}

} // namespace

Status migrateTracker(const RunPaths& paths, const FileLock& lock, Patience patience)
{
    FURROW_TRY_ASSIGN(const bool isOlder, SupervisorLedger::isOlder(paths.tracker()));
    if (!isOlder)
        return {};
    const auto deadline = std::chrono::steady_clock::now() + kOrphanPatience;
    auto older = LedgerReader::open(paths.tracker());
    const auto rows = older.ok() ? older.value().incarnations() : Result<std::vector<IncarnationRow>>(older.error());
    if (rows.ok()) // else the migration says what is wrong
        for (const IncarnationRow& row : rows.value())
            if (row.live && isOwnProcess(paths, row.process))
                endProcess(paths, row.process, deadline);
    return SupervisorLedger::migrate(paths.tracker(), lock, std::move(patience));
}

Status checkHeadsAreThere(const RunPaths& paths, const std::vector<SupervisorLedger::CheckpointRow>& checkpoints)
{
    for (const auto& row : checkpoints) {
        if (!row.head || row.damaged)
            continue;
        if (const auto manifest = readManifest(paths.checkpointFolder(row.record.folder)); !manifest.ok())
            return Error { manifest.error().code, refusalOf(paths, manifest.error()) };
    }
    return {};
}

namespace {

/// Reads heads until one cannot be used, each of them once.
class HeadReader {
public:
    HeadReader(const RunPaths& paths, const std::string& runId, std::stop_token stop)
        : paths_(paths)
        , runId_(runId)
        , stop_(std::move(stop))
    {
    }

    struct Found {
        CheckpointId id;
        Error problem;
    };
    std::optional<Found> firstUnusable(const std::vector<SupervisorLedger::CheckpointRow>& rows)
    {
        for (const auto& row : rows) {
            if (!row.head || row.damaged || whole_.contains(row.id.value))
                continue;
            const auto files = verifyTrainable(
                paths_.checkpointFolder(row.record.folder), row.record.manifestSha256, runId_, &frozen_, stop_);
            if (!files.ok())
                return Found { row.id, files.error() };
            whole_.insert(row.id.value);
        }
        return std::nullopt;
    }

private:
    const RunPaths& paths_;
    const std::string& runId_;
    std::stop_token stop_;
    std::set<std::int64_t> whole_;
    FrozenVerdicts frozen_;
};

} // namespace

std::optional<RefusedHead> refusalOfHeads(const RunPaths& paths, const std::string& runId,
    const std::vector<SupervisorLedger::CheckpointRow>& checkpoints, const std::stop_token& stop)
{
    const auto found = HeadReader(paths, runId, stop).firstUnusable(checkpoints);
    return found ? std::optional(RefusedHead { found->id, refusalOf(paths, found->problem) }) : std::nullopt;
}

Result<HeadsVerdict> verifyHeads(const RunPaths& paths, const RunFile& file, SupervisorLedger& ledger, bool acceptLoss)
{
    HeadsVerdict verdict;
    HeadReader heads(paths, file.runId, {});
    for (;;) { // a fall-back can land on another damaged one
        FURROW_TRY_ASSIGN(const auto rows, ledger.checkpoints());
        const auto found = heads.firstUnusable(rows);
        if (!found)
            return verdict;
        if (!acceptLoss) {
            verdict.refusal = refusalOf(paths, found->problem);
            return verdict;
        }
        FURROW_TRY_ASSIGN(auto freed, ledger.markDamaged(found->id, found->problem.message));
        verdict.notes.push_back(freed == 1
                ? sentence("%1 Its chunk is free again.", { found->problem.message })
                : sentence("%1 Its %2 chunks are free again.", { found->problem.message, std::to_string(freed) }));
    }
}

Result<std::vector<Message>> recoverRun(
    const RunPaths& paths, const RunFile& file, SupervisorLedger& ledger, const ResumeChoice& choice, FileSystem& files)
{
    Notes notes;
    FURROW_TRY(refuseLinks(paths));
    if (choice.acceptLoss) // before the ledger gives anything up: the attempt would fail where there is no place for
                           // new checkpoints
        FURROW_TRY(realFileSystem().createFolder(paths.checkpointsFolder()));
    if (auto status = endOrphans(paths, ledger, notes); !status.ok())
        return status.error().in(sentence("freeing the claims of dead workers"));
    FURROW_TRY(checkTrackerIsNewest(paths, file, choice, ledger.patience()));
    if (choice.acceptLoss)
        if (auto status = takeBackMoved(paths, ledger, notes, files); !status.ok())
            return status.error().in(sentence("taking checkpoints back"));
    FURROW_TRY_ASSIGN(auto foreign, setForeignSnapshotAside(paths, file.runId, files));
    if (!foreign.empty())
        notes.push_back(foreign);
    FURROW_TRY_ASSIGN(auto thereAgain, takeBackRemoved(paths, file.runId, ledger));
    notes.insert(notes.end(), thereAgain.begin(), thereAgain.end());
    if (auto status = takeBackWhole(paths, file, ledger, notes); !status.ok())
        return status.error().in(sentence("taking checkpoints back"));
    if (choice.goBackTo) {
        if (!choice.acceptLoss)
            FURROW_TRY(checkGoingBack(paths, file, *choice.goBackTo));
        FURROW_TRY_ASSIGN(auto freed, ledger.goBackTo(*choice.goBackTo));
        notes.push_back("The run goes on from checkpoint " + std::to_string(choice.goBackTo->value) + "; "
            + std::to_string(freed) + " chunks trained after it are free again.");
    }
    auto verified = verifyHeads(paths, file, ledger, choice.acceptLoss);
    if (!verified.ok())
        return verified.error().in(sentence("verifying checkpoints"));
    if (!verified.value().refusal.empty())
        return Error { ErrorCode::Corrupt, verified.value().refusal };
    notes.insert(notes.end(), verified.value().notes.begin(), verified.value().notes.end());
    if (!verified.value()
            .notes.empty()) // what was lost now may have been all that stood in the way of what was lost before
        if (auto status = takeBackWhole(paths, file, ledger, notes); !status.ok())
            return status.error().in(sentence("taking checkpoints back"));
    FURROW_TRY(checkStates(paths, file, choice, ledger.patience(), notes));
    FURROW_TRY_ASSIGN(auto leftOut, leaveOutAgain(paths, file.runId, paths.tracker(), ledger.patience()));
    FURROW_TRY_ASSIGN(auto unclear, unclearLeftOut(paths, file.runId));
    for (auto& said : { std::move(leftOut), std::move(unclear) })
        if (!said.empty())
            notes.push_back(said);
    if (auto status = sweepCheckpoints(paths, file, ledger, notes, files); !status.ok())
        return status.error().in(sentence("removing leftovers"));
    return notes;
}

} // namespace furrow
