#include "core/run/start/life_cycle.h"

#include "core/base/clock.h"
#include "core/base/fault_injection.h"
#include "core/base/file_lock.h"
#include "core/base/file_system.h"
#include "core/base/lock_holder.h"
#include "core/base/log.h"
#include "core/base/owner.h"
#include "core/base/path.h"
#include "core/base/plain_line.h"
#include "core/base/process_limit.h"
#include "core/base/sentence.h"
#include "core/base/told.h"
#include "core/config/gaussian_privacy.h"
#include "core/data/source/distant_source.h"
#include "core/device/placement.h"
#include "core/run/folder/attempt_config.h"
#include "core/run/folder/before_writing.h"
#include "core/run/folder/finished_mark.h"
#include "core/run/folder/finite_weights.h"
#include "core/run/folder/foreign_ledger.h"
#include "core/run/folder/removed_weights.h"
#include "core/run/folder/stray_checkpoints.h"
#include "core/run/start/limit_reached.h"
#include "core/run/start/recovery.h"
#include "core/run/status/end_words.h"
#include "core/run/status/privacy_spent.h"
#include "core/run/start/resume_check.h"
#include "core/run/status/run_holder.h"
#include "core/run/folder/run_links.h"
#include "core/run/status/run_status.h"
#include "core/run/start/worker_check.h"
#include "core/tracker/sqlite/tracker_locks.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace furrow {

namespace {

constexpr auto kKillPatience = std::chrono::seconds(3); // who is killed is gone in a moment
constexpr auto kWishPatience = std::chrono::seconds(30); // with who holds the tracker
constexpr auto kSignalPatience = std::chrono::seconds(2); // the same, where a signal does what the tracker would
/// How long a start is waited for.
std::chrono::duration<double> startPatience()
{
    return std::chrono::duration<double>(faultNumber("FURROW_START_S", 30));
}

std::filesystem::path furrowctl()
{
    auto path = executablePath().parent_path() / "furrowctl"; // also when the console asks
    path += executablePath().extension();
    return path;
}

Status requireAlive(const RunPaths& paths)
{
    FURROW_TRY(readRunFile(paths));
    if (const auto elsewhere = seenFromElsewhereReason(paths); !elsewhere.empty())
        return Error { ErrorCode::InvalidArgument,
            sentence("Nothing can be changed in %1 from here: %2. Use Furrow on the computer that trains it.",
                { paths.folder().string(), elsewhere }) };
    if (!isLocked(paths.supervisorLock()))
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 is not running. 'furrowctl status' says how it ended.", { paths.folder().string() }) };
    const auto holder = holderOf(paths);
    if (!isHeldByOther(paths, holder))
        return {};
    const auto shown = fileLockHolder(paths.supervisorLock()).value_or(LockHolder {});
    return Error { ErrorCode::InvalidArgument,
        holder && holder->isOurs
            ? sentence("%1 is not running: %2 works on it. Wait until that has ended.",
                  { paths.folder().string(), inWords(shown) })
            : sentence(
                  "%1 is not running: %2 holds %3 and is not a supervisor of the run. End it, or wait until it lets go.",
                  { paths.folder().string(), inWords(shown), utf8Text(paths.supervisorLock()) }) };
}

Error endItThere(const Error& error)
{
    return { error.code,
        sentence(
            "%1 The process that holds the run cannot be seen from here, perhaps because it is in another container. End the run there, or end that container.",
            { withFullStop(error.message) }) };
}

/// Why this user cannot end the run, behind why it could not be asked to; nothing: it can.
std::optional<Error> ofAnotherUser(const RunHolder& holder, const Error& error)
{
    const auto owner = otherOwner(holder.process);
    if (owner.empty())
        return std::nullopt;
    return Error { error.code,
        sentence("%1 The run is trained by process %2, which belongs to %3. Only they, or root, can end it.",
            { withFullStop(error.message), std::to_string(holder.process.pid), owner }) };
}

/// A tracker that cannot be used under a living run: no wish can be left in it, and no repair begins while the run
/// lives.
Error cannotBeAsked(const RunPaths& paths, const Error& error)
{
    if (error.code == ErrorCode::InvalidArgument || error.code == ErrorCode::Busy)
        return error;
    const auto holder = holderOf(paths);
    if (const auto refused = holder ? ofAnotherUser(*holder, error) : std::nullopt)
        return *refused;
    if (!holder && isHeldByHidden(paths))
        return endItThere(error);
    return { error.code,
        sentence("%1 The run is still being trained; 'furrowctl kill %2' ends it without its tracker.",
            { withFullStop(error.message), paths.folder().string() }) };
}

/// Busy where somebody has locked the whole tracker, so that it cannot even be opened: who reads waits a moment for
/// that, who writes half a minute.
Status requireOpenable(const RunPaths& paths)
{
    const auto opened = LedgerReader::open(paths.tracker());
    return !opened.ok() && opened.error().code == ErrorCode::Busy ? Status(opened.error()) : Status {};
}

/// Who holds the tracker is named meanwhile.
void waitAloud(const RunPaths& paths, SupervisorLedger& ledger)
{
    ledger.setPatience(patienceAloud(paths.tracker(),
        [end = std::chrono::steady_clock::now() + kWishPatience] { return std::chrono::steady_clock::now() < end; }));
}

/// The ledger, of an older Furrow too where nobody trains the run.
Result<SupervisorLedger> openBroughtForward(const RunPaths& paths)
{
    if (auto ledger = SupervisorLedger::open(paths.tracker());
        ledger.ok() || ledger.error().code != ErrorCode::InvalidArgument || !seenFromElsewhereReason(paths).empty())
        return ledger;
    if (auto lock = FileLock::tryLock(paths.supervisorLock()); lock.ok())
        FURROW_TRY(migrateTracker(paths, lock.value()));
    return SupervisorLedger::open(paths.tracker());
}

/// Writes a wish into the ledger of a run that is being trained.
Status ofLiving(const RunPaths& paths, const std::function<Status(SupervisorLedger&)>& wish)
{
    FURROW_TRY(requireAlive(paths));
    if (const auto openable = requireOpenable(paths); !openable.ok())
        return cannotBeAsked(paths, openable.error());
    auto ledger = SupervisorLedger::open(paths.tracker());
    if (ledger.ok())
        waitAloud(paths, ledger.value());
    const auto wished = ledger.ok() ? wish(ledger.value()) : ledger.error();
    return wished.ok() ? wished : cannotBeAsked(paths, wished.error());
}

/// In the tracker, as long as nobody keeps it.
Status askToEnd(const RunPaths& paths, DesiredState desired)
{
    FURROW_TRY(requireOpenable(paths));
    auto ledger = SupervisorLedger::open(paths.tracker());
    if (!ledger.ok())
        return ledger.error();
    ledger.value().setPatience([](std::chrono::milliseconds waited) { return waited < kSignalPatience; });
    return ledger.value().setDesired(desired);
}

/// The way past a version that this program does not write.
Error byAnotherFurrow(const Error& error, const RunHolder& holder)
{
    return { error.code,
        sentence(
            "%1 Where that one is not at hand, end its supervisor, process %2: it saves and ends with all its workers.",
            { withFullStop(error.message), std::to_string(holder.process.pid) }) };
}

/// For who wants a living run to end. Where this program cannot use its run.json, the supervisor can still be ended.
Status requireEndable(const RunPaths& paths)
{
    const auto alive = requireAlive(paths);
    if (alive.ok() || readRunFile(paths).ok())
        return alive;
    const auto holder = holderOf(paths);
    if (!holder || !holder->isSupervisor)
        return alive;
    if (alive.error().code == ErrorCode::InvalidArgument)
        return byAnotherFurrow(alive.error(), *holder);
    return Error { alive.error().code,
        sentence(
            "%1 The run is still being trained. To stop it, end its supervisor, process %2: it saves and ends with all its workers.",
            { withFullStop(alive.error().message), std::to_string(holder->process.pid) }) };
}

/// Without the tracker: the supervisor, known by the lock that it holds, and all that it started.
Status killByLock(const RunPaths& paths, const Error& error)
{
    const auto holder = holderOf(paths);
    if (error.code != ErrorCode::InvalidArgument && !holder && isHeldByHidden(paths))
        return endItThere(error);
    if (!holder || !holder->isSupervisor)
        return error;
    if (error.code == ErrorCode::InvalidArgument) // it is for another Furrow to do
        return byAnotherFurrow(error, *holder);
    if (const auto refused = ofAnotherUser(*holder, error))
        return *refused;
    const std::vector<Argument> facts { withFullStop(error.message), std::to_string(holder->process.pid) };
    killProcessTree(holder->process);
    const auto deadline = std::chrono::steady_clock::now() + kKillPatience;
    for (auto still = holder; still && still->process == holder->process; still = holderOf(paths)) {
        if (std::chrono::steady_clock::now() > deadline)
            return Error { error.code,
                sentence(
                    "The run cannot be asked to end: %1 Its supervisor, process %2, was killed and is still there: it waits for the system, as for a disk that does not answer, and ends when that does.",
                    facts) };
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    logWarning(sentence(
        "The run could not be asked to end: %1 So its supervisor, process %2, was killed with all that it started.",
        facts));
    return {};
}

/// Refused before anything is started: the reason belongs to the person who asks, not into a log.
Status checkCanGoBackTo(const RunPaths& paths, const std::string& runId, LedgerReader& reader, CheckpointId checkpoint)
{
    FURROW_TRY_ASSIGN(auto rows, reader.checkpoints());
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.id == checkpoint; });
    if (row == rows.end())
        return Error { ErrorCode::NotFound,
            sentence("The run has no checkpoint %1.", { std::to_string(checkpoint.value) }) };
    const std::string name = "Checkpoint " + row->record.folder;
    if (row->removed && !isThereAgain(paths, runId, *row))
        return Error { ErrorCode::InvalidArgument, sentence("%1 was removed by the keep policy.", { name }) };
    if (!row->surviving)
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 is not in the lineage of the weights any more; start a new run from it instead (--init-from).",
                { name }) };
    if (row->damaged)
        return Error { ErrorCode::InvalidArgument, sentence("%1 is damaged.", { name }) };
    return verifyTrainable(paths.checkpointFolder(row->record.folder), row->record.manifestSha256, runId);
}

Error alreadyFinished(const RunStatus& status)
{
    return { ErrorCode::InvalidArgument,
        status.markedByHand ? sentence("%1 is marked as finished already. Nothing was changed.", { status.folder })
                            : sentence("%1 is finished already: %2. Nothing was changed.",
                                  { status.folder, endInWords(status.stopReason, status.stopDetail) }) };
}

/// Which file keeps a wrong setting that the attempt before left, and a way past it; "" where a person gave all of
/// them.
std::string notGivenNow(const RunPaths& paths, const RunFile& file, const std::vector<AttemptRow>& attempts,
    const std::vector<ConfigProblem>& problems)
{
    const auto left = attempts.empty() ? problems : wrongOverrides(attempts.back(), file.config);
    const auto found = std::find_first_of(problems.begin(), problems.end(), left.begin(), left.end());
    if (attempts.empty() || found == problems.end())
        return {};
    return " "
        + sentence(
            "%1 keeps this of attempt %2. 'furrowctl doctor %3 --repair' sets the settings of that attempt aside; those of run.json hold then.",
            { utf8Text(paths.tracker().filename()), std::to_string(attempts.back().id.value),
                utf8Text(paths.folder()) });
}

/// A tracker that goes on as an older copy does not know what was trained and lost since.
Status checkCanKeepEpsilon(
    const RunPaths& paths, const RunFile& file, const RunConfig& wanted, const ResumeChoice& choice)
{
    if (!choice.acceptLoss || mostParticipations(wanted) == 0)
        return {};
    FURROW_TRY_ASSIGN(const auto older, olderTrackerProblem(paths, file.runId));
    return checkEpsilonIsKnown(wanted, !older.empty());
}

/// Whether any of the data is asked of a hub, a server or a store, with what opens it.
bool isAnyDistant(const std::vector<std::string>& data)
{
    return std::any_of(data.begin(), data.end(), [](const std::string& one) { return isDistantPath(one); });
}

/// Looks at the weights only where it has to.
Status checkIsAnyLeft(const RunPaths& paths, const RunConfig& wanted, const ResumeChoice& choice)
{
    FURROW_TRY_ASSIGN(const auto status, readStatus(paths));
    if (!hasComeToItsEnd(status) && !leavesEpochOpen(status, wanted))
        return {};
    FURROW_TRY_ASSIGN(const auto plan, planResume(paths));
    if (!plan.verdict(choice).ok()) // weights that cannot be used: the attempt says so, and what can be done
        return {};
    return refuseNothingLeft(status, plan, wanted, choice.goBackTo ? plan.choiceOf(*choice.goBackTo) : nullptr);
}

/// Waits until the supervisor has written its name, or has ended with a reason. One that waits for a locked tracker is
/// left to it, with a warning.
Status waitUntilHeld(const RunPaths& paths, const ProcessIdentity& supervisor, const std::filesystem::path& log)
{
    const auto deadline = std::chrono::steady_clock::now() + startPatience();
    while (std::chrono::steady_clock::now() < deadline) {
        auto reader = LedgerReader::open(paths.tracker());
        if (reader.ok()) {
            auto totals = reader.value().totals();
            if (totals.ok() && totals.value().supervisor && *totals.value().supervisor == supervisor)
                return {};
        }
        if (!isAlive(supervisor)) {
            if (isLocked(paths.supervisorLock())) // by another one, to whom the log belongs
                return heldByAnother(paths);
            const auto said = lastComplaint(log);
            return Error { ErrorCode::Internal,
                said.empty() ? sentence("the supervisor ended before it held the run; see %1", { log.string() })
                             : Message(said) };
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    if (const auto writer = trackerLocks(paths.tracker()).writer) { // it waits for as long as that takes
        logWarning(sentence("%1 has locked the tracker; the run begins when it lets go. Let it go on or end it.",
            { inWords(*writer) }));
        return {};
    }
    return Error { ErrorCode::Busy,
        sentence("the supervisor did not take the run within 30 seconds; see %1", { log.string() }) };
}

} // namespace

Result<RunConfig> currentConfig(const RunPaths& paths)
{
    FURROW_TRY_ASSIGN(auto file, readRunFile(paths));
    FURROW_TRY_ASSIGN(auto reader, openLedgerItself(paths));
    FURROW_TRY_ASSIGN(auto attempts, reader.attempts());
    return nextConfig(attempts, file.config);
}

Status checkNextSettings(const RunPaths& paths, const RunFile& file, LedgerReader& reader, const RunConfig& wanted)
{
    FURROW_TRY_ASSIGN(const auto attempts, reader.attempts());
    const auto problems = problemsOfGoingOn(file.config, wanted);
    if (!problems.empty())
        return Error { ErrorCode::InvalidArgument, toString(problems) + notGivenNow(paths, file, attempts, problems) };
    FURROW_TRY_ASSIGN(const bool isMadeAnew, reader.isMadeAnew());
    FURROW_TRY(checkEpsilonIsKnown(wanted, isMadeAnew));
    const auto placed = placeWorkersHere(wanted);
    return placed.ok() ? Status {} : Status(placed.error());
}

Result<ProcessIdentity> startRun(const RunPaths& paths, const RunConfig& wanted,
    const std::map<std::string, std::string>& environment, const ResumeChoice& choice)
{
    FURROW_TRY_ASSIGN(auto file, readRunFile(paths));
    FURROW_TRY_ASSIGN(auto reader, openLedgerItself(paths));
    FURROW_TRY(checkNextSettings(paths, file, reader, wanted));
    FURROW_TRY(checkCanKeepEpsilon(paths, file, wanted, choice));
    if (choice.goBackTo)
        FURROW_TRY(checkCanGoBackTo(paths, file.runId, reader, *choice.goBackTo));
    FURROW_TRY(checkResume(paths, file, reader, choice, [&paths] { return audit(paths.tracker()); }));
    FURROW_TRY(checkIsAnyLeft(paths, wanted, choice));
    FURROW_TRY(requireWorker());
    FURROW_TRY(realFileSystem().createFolder(paths.logsFolder())); // never the run's own: it may be in the trash by now
    ProcessOptions options;
    options.environment = environment;
    options.withSecrets = isAnyDistant(wanted.data); // for the feeder
    options.arguments = { "supervise", paths.folder().string() };
    for (const auto& change : changes(file.config, wanted)) {
        options.arguments.push_back("--set");
        options.arguments.push_back(change.setting->key + "=" + change.after);
    }
    if (choice.goBackTo)
        options.arguments.insert(
            options.arguments.end(), { "--from-checkpoint", std::to_string(choice.goBackTo->value) });
    if (choice.acceptLoss)
        options.arguments.push_back("--accept-loss");
    if (choice.rate)
        options.arguments.insert(options.arguments.end(), { "--rate-plan", toString(*choice.rate) });
    options.outputFile = paths.supervisorLog();
    auto started = startDetached(furrowctl(), options);
    if (!started.ok())
        return started.error().in(sentence("starting the supervisor"));
    FURROW_TRY(waitUntilHeld(paths, started.value(), options.outputFile));
    return started;
}

Result<bool> waitUntilBegun(const RunPaths& paths, const ProcessIdentity& supervisor)
{
    const auto deadline = std::chrono::steady_clock::now() + startPatience();
    for (;;) {
        const bool lives = isAlive(supervisor); // before the ledger is asked: it ends last of all
        FURROW_TRY_ASSIGN(auto reader, LedgerReader::open(paths.tracker()));
        FURROW_TRY_ASSIGN(const auto totals, reader.totals());
        if (totals.feeder && isAlive(*totals.feeder))
            return true;
        FURROW_TRY_ASSIGN(const auto status, readStatus(paths));
        if (isAnyAlive(status))
            return true;
        if (!lives && status.state == RunState::Failed)
            return Error { ErrorCode::Internal, withFullStop(status.stopDetail) };
        if (!lives && status.state == RunState::Interrupted)
            return Error { ErrorCode::Internal, sentence("The run has ended: %1.", { asSentence(status.stopDetail) }) };
        if (!lives) // there was little to train
            return true;
        if (std::chrono::steady_clock::now() > deadline)
            return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

Result<SupervisorLedger> openForControl(const RunPaths& paths)
{
    FURROW_TRY_ASSIGN(const auto file, readRunFile(paths));
    FURROW_TRY(beforeWritingInto(paths));
    if (!isLocked(paths.supervisorLock())) // a run in training keeps its tracker, whoever makes hard links to it
        FURROW_TRY(refuseSecondNames(paths));
    if (const auto foreign = foreignLedger(paths.tracker(), file.runId); !foreign.empty())
        return foreignRefusal(paths, foreign);
    FURROW_TRY(requireOpenable(paths));
    FURROW_TRY_ASSIGN(auto ledger, openBroughtForward(paths));
    waitAloud(paths, ledger);
    return ledger;
}

Status pauseRun(const RunPaths& paths)
{
    return ofLiving(paths, [](SupervisorLedger& ledger) { return ledger.setDesired(DesiredState::Pause); });
}

Status continueRun(const RunPaths& paths)
{
    if (isLocked(paths.supervisorLock()) || !seenFromElsewhereReason(paths).empty())
        return ofLiving(paths, [](SupervisorLedger& ledger) { return ledger.setDesired(DesiredState::Run); });
    FURROW_TRY_ASSIGN(const auto status, readStatus(paths));
    return Error { ErrorCode::InvalidArgument,
        sentence(
            "The run is %1: nothing is paused. `furrowctl resume` goes on with it, and says first what is trained again.",
            { Term { TermSet::RunState, toString(status.state) } }) };
}

/// On a disk that is full or away, and while somebody else holds the lock of the tracker, the wish cannot be written
/// down; its supervisor can be asked all the same.
Status stopRun(const RunPaths& paths)
{
    FURROW_TRY(requireEndable(paths));
    const auto asked = askToEnd(paths, DesiredState::Stop);
    if (asked.ok())
        return asked;
    const auto holder = holderOf(paths);
    const bool isHeld = asked.error().code == ErrorCode::Busy;
    if (asked.error().code == ErrorCode::InvalidArgument && holder && holder->isSupervisor)
        return byAnotherFurrow(asked.error(), *holder);
    if (!(isHeld || mayPass(asked.error())) || !holder || !holder->isSupervisor || !otherOwner(holder->process).empty())
        return cannotBeAsked(paths, asked.error());
    requestProcessStop(holder->process);
    const std::vector<Argument> facts { withFullStop(asked.error().message), std::to_string(holder->process.pid) };
    logWarning(isHeld
            ? sentence(
                  "%1 So the supervisor, process %2, was asked by a signal. It ends when its workers have saved, which they can as soon as the tracker is free; what they cannot save within ten minutes is trained again after a resume.",
                  facts)
            : sentence(
                  "%1 So the supervisor, process %2, was asked by a signal. It ends when its workers have saved; what they cannot save within a minute is trained again after a resume.",
                  facts));
    return {};
}

Status killRun(const RunPaths& paths)
{
    FURROW_TRY(requireEndable(paths));
    const auto asked = askToEnd(paths, DesiredState::Kill);
    const auto holder = holderOf(paths);
    if (asked.ok() && holder && holder->isSupervisor && standsStill(holder->process)) // nobody would obey
        return killByLock(paths, { ErrorCode::Busy, sentence("its supervisor stands still") });
    return asked.ok() ? asked : killByLock(paths, asked.error());
}

Status saveNow(const RunPaths& paths)
{
    return ofLiving(paths, [](SupervisorLedger& ledger) { return ledger.requestSave(); });
}

Status evaluateNow(const RunPaths& paths)
{
    const auto asked = ofLiving(paths, [](SupervisorLedger& ledger) { return ledger.requestEvaluation(); });
    if (asked.ok() || isLocked(paths.supervisorLock()) || !readRunFile(paths).ok())
        return asked;
    return Error { asked.error().code,
        sentence("%1 'furrowctl eval' evaluates the weights of a run that nobody trains.",
            { withFullStop(asked.error().message) }) };
}

Status stopAfterThis(const RunPaths& paths, EndOf what)
{
    return ofLiving(paths, [what](SupervisorLedger& ledger) { return ledger.stopAfterThis(what); });
}

Status markFinished(const RunPaths& paths)
{
    FURROW_TRY_ASSIGN(const auto file, readRunFile(paths)); // no lock is made in a folder that is no run
    FURROW_TRY(beforeWritingInto(paths));
    if (const auto status = readStatus(paths); status.ok() && status.value().state == RunState::Finished)
        return alreadyFinished(status.value());
    auto lock = FileLock::tryLock(paths.supervisorLock());
    if (!lock.ok())
        return lock.error().code == ErrorCode::Busy ? heldByAnother(paths) : lock.error();
    FURROW_TRY(refuseOlderTracker(paths, file.runId));
    FURROW_TRY_ASSIGN(auto reader, openLedger(paths));
    FURROW_TRY_ASSIGN(auto attempts, reader.attempts());
    if (attempts.empty())
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 was never started, so there is nothing to accept.", { paths.folder().string() }) };
    return writeFinishedMark(paths, { attempts.back().id, systemClock().wallNs() });
}

} // namespace furrow
