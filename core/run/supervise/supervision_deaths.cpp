// Processes that ended, and those that must: what becomes of their work, and whether they start again.

#include "core/base/fail_point.h"
#include "core/base/is_there.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/plain_line.h"
#include "core/base/process_limit.h"
#include "core/base/sentence.h"
#include "core/run/status/own_process.h"
#include "core/run/supervise/attempt_end.h"
#include "core/run/supervise/start_words.h"
#include "core/run/supervise/supervision.h"
#include "core/tracker/named_chunks.h"
#include "core/tracker/training_notes.h"
#include "core/tracker/worker_ends.h"

namespace furrow {

namespace {

constexpr int kGaveUp = 1; // the exit code of a worker that could not go on, nor save

Message nameOf(const WorkerPool::Ended& ended)
{
    return ended.worker < 0 ? sentence("The feeder") : sentence("Worker %1", { std::to_string(ended.worker) });
}

bool isAtLimit(const ProcessExit& exit) { return exit.signal == 0 && exit.exitCode == kLimitExit; }

} // namespace

Status Supervision::seeDeaths()
{
    for (auto& ended : pool_->poll())
        ended_.push_back(std::move(ended));
    for (; !ended_.empty(); ended_.pop_front()) // one whose end could not be recorded is seen again
        FURROW_TRY(onWorkerEnd(ended_.front()));
    return {};
}

Status Supervision::onWorkerEnd(const WorkerPool::Ended& ended)
{
    const bool inOrder = ended.exit.signal == 0 && ended.exit.exitCode == 0;
    FURROW_TRY_ASSIGN(auto live, ledger_.live());
    const Message cause = desired_ == DesiredState::Kill
        ? sentence(kRunKilled)
        : stalls_.whyEnded(ended.process).value_or(ended.exit.describe());
    std::int64_t freed = 0;
    for (const auto& incarnation : live) {
        if (!(incarnation.process == ended.process))
            continue;
        FURROW_TRY_ASSIGN(freed, ledger_.revoke(incarnation.incarnation, cause));
        logWarning(nameOf(ended) + " ended (" + cause + "); " + std::to_string(freed) + " chunks are free again.");
    }
    failPoint("supervisor.revoked");
    const bool gaveUp = isAtLimit(ended.exit)
        || (ended.exit.signal == 0 && ended.exit.exitCode == kGaveUp); // it has ended in the ledger
    if (stopping_ && ended.worker >= 0 && desired_ != DesiredState::Kill && (gaveUp || freed > 0))
        unsaved_ = whatIsNotSaved(ended);
    if (inOrder || stopping_)
        return {};
    if (ended.worker < 0) // of workers the ledger has rows that say so
        if (auto noted
            = noteRunEvent(paths_.tracker(), sentence("the feeder ended: %1", { cause }), clock_, ledger_.patience());
            !noted.ok())
            logWarning(noted.error().message);
    // It gave up by itself: perhaps its weights were damaged on disk. What is away comes back.
    if (ended.exit.signal == 0 && ended.worker >= 0 && !checkpointsAreAway()) {
        heads_.ask(ended); // seeHeads() goes on with it
        return {};
    }
    return startAgain(ended);
}

/// Plans the restart of a process that should not have ended, or gives up.
Status Supervision::startAgain(const WorkerPool::Ended& ended)
{
    const Message who = nameOf(ended);
    const bool atLimit = isAtLimit(ended.exit);
    const auto log = logOf(ended);
    const std::string said = lastWordsOf(ended);
    const auto byUs = stalls_.whyEnded(ended.process);
    lastFailure_ = byUs ? sentence("%1 ended: %2. See %3 for more.", { who, *byUs, utf8Text(log) })
        : said.empty()  ? sentence("%1 ended with %2. See %3 for more.", { who, ended.exit.describe(), utf8Text(log) })
                        : sentence("%1 ended with %2: %3 See %4 for more.",
                              { who, ended.exit.describe(), withFullStop(said), utf8Text(log) });
    if (!atLimit) {
        if (pool_->restartLater(ended.worker, byUs.has_value(), trainedWhenPaused(ended.process))) {
            nextSecondNs_ = 0; // who looks at the run is told of the start with the next heartbeat
            return {};
        }
        lastFailure_ = sentence(
            "%1 The limit of %2 restarts is reached.", { lastFailure_, std::to_string(config_.maxRestarts) });
    }
    failures_[ended.worker] = lastFailure_;
    logError(lastFailure_);
    if (atLimit || ended.worker < 0) { // another one ends as well; without a feeder the workers would wait for ever
        fatal_ = lastFailure_;
        beginStopping();
    }
    return {};
}

/// Which workers are not there, and when they begin, for the status; "": all are, or the attempt ends.
Result<Message> Supervision::whoIsAwaited()
{
    if (!pool_ || stopping_)
        return Message();
    auto starts = pool_->starts();
    FURROW_TRY_ASSIGN(const auto live, ledger_.live());
    const auto isOf = [](const WorkerPool::Start& start) {
        return [&start](const auto& row) { return start.process && row.process == *start.process; };
    };
    std::erase_if(starts, [&](const auto& start) { return std::any_of(live.begin(), live.end(), isOf(start)); });
    if (std::any_of(starts.begin(), starts.end(), [](const auto& start) { return start.process.has_value(); })) {
        FURROW_TRY_ASSIGN(const auto rows, reader_.incarnations()); // it may be at its end instead
        std::erase_if(starts, [&](const auto& start) { return std::any_of(rows.begin(), rows.end(), isOf(start)); });
    }
    const std::int64_t wallOfZeroNs = clock_.wallNs() - clock_.monotonicNs();
    std::vector<AwaitedStart> awaited;
    for (const auto& start : starts)
        if (start.process || !checkpointsAreAway()) // that is said by itself, and nobody knows when they are back
            awaited.push_back({ start.worker, wallOfZeroNs + start.atNs, start.process.has_value() });
    Message words = startsInWords(awaited, config_.parallel == ParallelMode::Data);
    if (heads_.isOpen())
        words += (words.empty() ? "" : " ")
            + sentence("The newest weights are read before the worker that gave up is started again.");
    for (const int worker : pool_->goneForGood())
        words += (words.empty() ? "" : " ") + failures_[worker];
    return words;
}

/// How far the run had come when it ended a process that somebody had stopped; nothing: nobody had, or it cannot be
/// read.
std::optional<std::int64_t> Supervision::trainedWhenPaused(const ProcessIdentity& process)
{
    if (!stalls_.wasStopped(process))
        return std::nullopt;
    const auto totals = reader_.totals();
    return totals.ok() ? std::optional(totals.value().tokens) : std::nullopt;
}

std::filesystem::path Supervision::logOf(const WorkerPool::Ended& ended) const
{
    return paths_.logFile(attempt_.value, ended.worker < 0 ? "feeder" : "worker-" + std::to_string(ended.worker));
}

/// A process that was killed did not know: what it wrote last explains nothing.
std::string Supervision::lastWordsOf(const WorkerPool::Ended& ended) const
{
    return ended.exit.signal == 0 ? lastComplaint(logOf(ended)) : std::string();
}

/// Of a worker that was asked to save and end, and ended otherwise.
Message Supervision::whatIsNotSaved(const WorkerPool::Ended& ended) const
{
    const std::string said = lastWordsOf(ended);
    return sentence("what worker %1 had trained since its last checkpoint could not be saved, and is trained again: %2",
        { std::to_string(ended.worker), said.empty() ? ended.exit.describe() : Message(said) });
}

/// Their disk was unmounted, say: nothing begins that has to read them, and who trains waits to save. Nobody is asked:
/// a resume would find no more than this.
bool Supervision::checkpointsAreAway() const { return !isThere(paths_.checkpointsFolder()); }

/// Newest weights that are not whole end the attempt; a resume asks a person (a yes at this one was given for what was
/// lost then). The other workers save what they have. Else who gave up starts again.
Status Supervision::seeHeads()
{
    FURROW_TRY_ASSIGN(const auto verdict, heads_.poll(ledger_));
    if (!verdict)
        return {};
    if (!verdict->refusal.empty() && !checkpointsAreAway()) {
        fatal_ = verdict->refusal;
        logError(fatal_);
        if (!stopping_)
            beginStopping();
    }
    for (const auto& ended : verdict->of)
        if (!stopping_)
            FURROW_TRY(startAgain(ended));
    return {};
}

Status Supervision::stopHung()
{
    FURROW_TRY_ASSIGN(auto expired, ledger_.expired());
    for (const auto& hung : expired) {
        if (hung.overdueSeconds <= stalls_.forgivenSeconds(hung.renewedNs))
            continue;
        FURROW_TRY(endWorker(hung, sentence("no progress within its lease")));
    }
    return {};
}

Status Supervision::endStandstill()
{
    FURROW_TRY_ASSIGN(auto still, standstill_.overdue());
    for (const auto& worker : still)
        FURROW_TRY(endWorker(worker, sentence("it stood still while others waited for it")));
    const auto feeder = pool_->feeder();
    if (!feeder || desired_ != DesiredState::Run || stopping_)
        return {};
    FURROW_TRY_ASSIGN(const bool isAwaited, standstill_.isOverdue(*feeder));
    if (isAwaited)
        stalls_.endFeeder(*feeder, sentence("it stood still while workers waited for data"));
    return {};
}

Status Supervision::endWorker(const SupervisorLedger::Expired& worker, const Message& cause)
{
    logWarning("Worker " + std::to_string(worker.worker) + " is killed: " + cause + ".");
    stalls_.note(worker.process, cause);
    FURROW_TRY(ledger_.revoke(worker.incarnation, stalls_.whyEnded(worker.process).value_or(cause)));
    killOwnProcess(paths_, worker.process);
    return {};
}

/// Nobody is left to wait for: the feeder needs a person, or all that is left cannot be read.
Status Supervision::seeWhatCannotBeRead(const SupervisorLedger::Advance& advance)
{
    if (stopping_ || stopReason_ != StopReason::None)
        return {};
    if (!advance.gaveUp.empty()) {
        fatal_ = advance.gaveUp;
    } else if (advance.onlyUnreadableLeft) {
        FURROW_TRY_ASSIGN(auto chunks, poisonedChunks(paths_.tracker()));
        incomplete_ = whatCannotBeRead(chunks, advance.planningEnded, config_.badFiles);
    } else {
        return {};
    }
    logError(fatal_.empty() ? incomplete_ : fatal_);
    beginStopping();
    return {};
}

} // namespace furrow
