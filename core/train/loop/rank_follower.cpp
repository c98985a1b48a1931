#include "core/run/folder/frozen_config.h"
#include "core/train/loop/rank_follower_torch.h"

#include "core/base/format.h"
#include "core/base/log.h"
#include "core/base/random.h"
#include "core/base/sentence.h"
#include "core/tracker/worker_ends.h"
#include "core/train/meters/seconds.h"

#include <torch/torch.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

namespace furrow {

RankFollower::RankFollower(RunSetup setup, TrainerOptions options, std::function<bool()> stopRequested)
    : setup_(std::move(setup))
    , options_(std::move(options))
    , stopRequested_(std::move(stopRequested))
{
}

Result<std::unique_ptr<RankFollower>> RankFollower::open(
    const TrainerOptions& options, std::function<bool()> stopRequested, const LearnerFactory& factory)
{
    FURROW_TRY_ASSIGN(auto setup, openTrainerRun(options));
    auto follower
        = std::unique_ptr<RankFollower>(new RankFollower(std::move(setup), options, std::move(stopRequested)));
    if (auto status = follower->start(factory); !status.ok()) {
        if (follower->group_)
            follower->group_->leave(status.error().message);
        return status.error();
    }
    return follower;
}

Status RankFollower::start(const LearnerFactory& factory)
{
    FURROW_TRY_ASSIGN(auto tokenizer, tokenizerOfRun(setup_.paths, setup_.file));
    FURROW_TRY_ASSIGN(loader_, ChunkLoader::start(loaderOptions(setup_, *tokenizer)));
    batches_ = std::make_unique<BatchMaker>(setup_.device, setup_.config.batchSize, setup_.config.seqLen);
    FURROW_TRY(openLedger());
    FURROW_TRY_ASSIGN(auto writer, openTelemetry(setup_, options_));
    telemetry_.emplace(std::move(writer));
    FURROW_TRY_ASSIGN(
        auto reader, LedgerThread::outlastDisk([this] { return LedgerReader::open(setup_.paths.tracker()); }));
    FURROW_TRY_ASSIGN(const RunSetup making, setupToGoOn(setup_, reader, 0)); // rank 0 is replica 0
    FURROW_TRY_ASSIGN(learner_, factory(setup_.config.loraRank == 0 ? making : setup_)); // it shares all but the base
    FURROW_TRY_ASSIGN(group_, joinRanks(options_, setup_, stopRequested_));
    orders_ = std::make_unique<RankOrders>(*group_);
    FURROW_TRY(shareState(*learner_, *group_));
    steps_ = std::make_unique<StepRunner>(*learner_, stepRules(setup_.config), group_.get());
    startedNs_ = systemClock().monotonicNs();
    logInfo("rank " + std::to_string(options_.worker) + " of " + std::to_string(options_.ranks) + " on "
        + options_.device + " (" + learner_->backendName() + ") follows rank 0");
    telemetry_->write(EventRecord { startedNs_, 0, 0, EventRecord::Kind::Started, learner_->backendName() });
    return {};
}

Status RankFollower::openLedger()
{
    LedgerThread::Options ledger;
    ledger.tracker = setup_.paths.tracker();
    ledger.runId = setup_.file.runId;
    ledger.registration = { AttemptId { options_.attempt }, options_.worker, kFollower, options_.device,
        setup_.device.is_cpu() ? "CPU" : "GPU " + setup_.device.str() };
    ledger.leastLeaseSeconds = leaseOf(setup_);
    FURROW_TRY_ASSIGN(ledger_, LedgerThread::start(std::move(ledger)));
    return {};
}

Result<TrainerEnd> RankFollower::run()
{
    for (;;) {
        auto goesOn = turn();
        if (goesOn.ok() && goesOn.value())
            continue;
        const Message cause = goesOn.ok() ? sentence(kFirstRankEnded) : goesOn.error().message;
        if (!goesOn.ok()) {
            logError(cause);
            group_->leave(cause);
        }
        telemetry_->write(EventRecord { systemClock().monotonicNs(), ownSteps_, 0,
            goesOn.ok() ? EventRecord::Kind::Stopped : EventRecord::Kind::Alarm, cause });
        telemetry_->flush();
        if (goesOn.ok() || goesOn.error().code != ErrorCode::Cancelled) { // else the lease is lost already
            tellProgress(WorkerPhase::Ended);
            (void)ledger_->flushProgress();
            (void)ledger_->call([&](WorkerLedger& ledger) { return ledger.end(cause); });
        }
        if (!goesOn.ok())
            return goesOn.error();
        totals_.cause = cause;
        totals_.seconds = secondsBetween(startedNs_, systemClock().monotonicNs());
        totals_.ledgerSeconds = ledger_->busySeconds();
        return totals_;
    }
}

/// One order of rank 0. @return false: the end
Result<bool> RankFollower::turn()
{
    FURROW_TRY(ledger_->status());
    FURROW_TRY_ASSIGN(auto order, orders_->take(stopRequested_ && stopRequested_()));
    switch (order.kind) {
    case RankOrder::Kind::Wait: tellProgress(WorkerPhase::Wait); return true;
    case RankOrder::Kind::Step: FURROW_TRY(trainStep(order)); return true;
    case RankOrder::Kind::End: break;
    }
    std::vector<StepOutcome> known;
    steps_->flush(known);
    record(known);
    return false;
}

/// Makes the chunk of an order the one at hand, and begins to read the one after it.
Status RankFollower::load(const RankOrder& order)
{
    if (!chunk_ || claim_.claimId != order.claim.claimId) {
        std::vector<StepOutcome> known;
        steps_->flush(known);
        record(known);
        if (ahead_ != order.claim.claimId)
            loader_->forget(); // it was given back
        FURROW_TRY_ASSIGN(chunk_, loader_->take(order.claim));
        claim_ = order.claim;
    }
    if (order.ahead.claimId != 0 && std::exchange(ahead_, order.ahead.claimId) != order.ahead.claimId)
        loader_->prefetch(order.ahead);
    return {};
}

Status RankFollower::trainStep(const RankOrder& order)
{
    const std::int64_t began = systemClock().monotonicNs();
    try {
        FURROW_TRY(load(order));
        auto step = makeStep(*batches_, *chunk_->windows, claim_, order.windows, options_.worker, options_.ranks);
        step.noiseSeed = order.noiseSeed;
        waitedSeconds_ += secondsBetween(began, systemClock().monotonicNs());
        if (auto* model = learner_->model())
            model->reseed(mixSeed({ static_cast<std::uint64_t>(setup_.config.seed), 0,
                static_cast<std::uint64_t>(order.ownSteps), static_cast<std::uint64_t>(options_.worker) }));
        ownSteps_ = order.ownSteps;
        windowsDone_ = order.windows.end;
        std::vector<StepOutcome> known;
        FURROW_TRY(steps_->run(step, order.learningRate, known));
        record(known);
        tellProgress(WorkerPhase::Train);
        return {};
    } catch (const c10::Error& e) {
        return Error { ErrorCode::Internal,
            sentence("training %1 on %2 (at most %3 in use): %4",
                { toString(claim_.chunk), options_.device,
                    Bytes(static_cast<std::uint64_t>(memory_.read(setup_.device).peakBytes)),
                    e.what_without_backtrace() }) };
    }
}

/// Its own speed, times and memory; the rest is told by rank 0.
void RankFollower::record(const std::vector<StepOutcome>& outcomes)
{
    for (const auto& step : outcomes) {
        const std::int64_t now = systemClock().monotonicNs();
        const double sinceLast = std::max(secondsBetween(lastStepEndNs_ > 0 ? lastStepEndNs_ : startedNs_, now), 1e-9);
        lastStepEndNs_ = now;
        totals_.trainSeconds += step.backwardSeconds + step.optimizerSeconds;
        pace_.addStep(step.bad ? 0 : static_cast<double>(step.ownTokens), sinceLast);
        if (step.bad)
            continue;
        ++ownSteps_;
        ++totals_.stepsHere;
        totals_.tokens += step.ownTokens;
        const double speed = static_cast<double>(step.ownTokens) / sinceLast;
        StepRecord line;
        line.monotonicNs = now;
        line.step = ownSteps_;
        line.epoch = claim_.epoch;
        line.block = claim_.block;
        line.chunk = claim_.chunk.value;
        line.tokensPerSecond = speed;
        line.time.waitData = std::exchange(waitedSeconds_, 0) * 1e3;
        line.time.backward = step.backwardSeconds * 1e3;
        line.time.optimizer = step.optimizerSeconds * 1e3;
        line.memoryBytes = memory_.read(setup_.device).bytes;
        line.ranks = options_.ranks;
        line.rank = options_.worker;
        telemetry_->write(line);
    }
}

void RankFollower::tellProgress(WorkerPhase phase)
{
    WorkerLedger::Progress progress;
    progress.phase = phase;
    progress.step = ownSteps_;
    progress.tokens = totals_.tokens;
    progress.loss = std::numeric_limits<double>::quiet_NaN();
    if (phase == WorkerPhase::Train) {
        progress.tokensPerSecond = pace_.tokensPerSecond();
        progress.chunk = claim_.chunk;
        progress.chunkFraction = claim_.windows > 0 ? static_cast<double>(windowsDone_) / claim_.windows : 0;
    }
    ledger_->progress(progress);
}

} // namespace furrow
