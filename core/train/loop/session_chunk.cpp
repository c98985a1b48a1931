// One chunk: steps over its windows until its end or a reason to leave it.

#include "core/train/loop/training_session_torch.h"

#include "core/base/fail_point.h"
#include "core/base/format.h"
#include "core/base/log.h"
#include "core/base/process_limit.h"
#include "core/base/random.h"
#include "core/base/memory_death.h"
#include "core/base/sentence.h"
#include "core/config/gaussian_privacy.h"
#include "core/tracker/window_ranges.h"
#include "core/train/meters/seconds.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace furrow {

namespace {

constexpr std::int64_t kClaimWaitsEveryNs = 30'000'000'000;
constexpr std::size_t kMostSaid = 300; // of what libtorch says

void append(std::vector<WindowRange>& ranges, WindowRange range)
{
    if (!ranges.empty() && ranges.back().end == range.begin)
        ranges.back().end = range.end;
    else
        ranges.push_back(range);
}

double labelsIn(const ChunkWindows& windows, const std::vector<WindowRange>& ranges)
{
    double labels = 0;
    for (const auto& range : ranges)
        for (auto w = range.begin; w < range.end; ++w)
            labels += windows.labelCount(w);
    return labels;
}

/// Labels trained before this claim. The ledger of an old run counts those of a part of the chunk as a share of its
/// windows; here they are known.
double positionOf(const Claim& claim, const ChunkWindows& windows)
{
    return static_cast<double>(claim.positionTokens - claim.coveredTokens)
        + labelsIn(windows, subtract({ { 0, claim.windows } }, claim.remaining));
}

/// Samples of which the last label is in these windows.
std::int64_t samplesEnding(const LoadedChunk& chunk, WindowRange windows)
{
    std::int64_t count = 0;
    for (std::int32_t w = windows.begin; w < windows.end; ++w) {
        for (const auto& piece : chunk.windows->pieces(w)) {
            const auto sample = static_cast<std::size_t>(piece.sample);
            const auto length = static_cast<std::int64_t>(chunk.text.offsets[sample + 1] - chunk.text.offsets[sample]);
            count += piece.firstToken + piece.labels == length + 1; // its end-of-text is the last label
        }
    }
    return count;
}

} // namespace

/// Trained windows that are in no checkpoint yet. `steps` as in Part.
std::vector<Part> TrainingSession::ChunkWork::unfrozen(std::int64_t steps) const
{
    std::vector<Part> parts;
    for (const auto& range : subtract(outcome.done, frozen))
        parts.push_back({ claim.chunk, range, parts.empty() || steps < 0 ? steps : 0 });
    return parts;
}

Result<TrainingSession::Cut> TrainingSession::trainChunk(const Claim& claim)
{
    const std::int64_t began = systemClock().monotonicNs();
    ChunkWork work;
    work.claim = claim;
    underWay_ = &work;
    auto data = loader_->take(claim);
    if (!data.ok()) {
        if (isForLimit(data.error().message)) // the next chunk, and the next try, would end there too
            return data.error();
        logError(data.error().message);
        ledger_->fail(claim, data.error());
        tellEvent(EventRecord::Kind::Alarm, data.error().message, claim.chunk);
        return Cut::None;
    }
    work.data = std::move(data).value();
    if (learner_->model())
        work.bySample.emplace(work.data->text, work.data->windows->holdsPairs());
    for (const auto& range : claim.remaining)
        work.windowsToDo += range.size();
    work.positionTokens = positionOf(claim, *work.data->windows);
    work.outcome.firstStep = totals_.stepsHere + 1;
    judgeBy(work);
    const double waited = secondsBetween(began, systemClock().monotonicNs());
    waitedSeconds_ += waited;
    totals_.dataSeconds += waited;

    const WindowRanges leftOut = intersect(claim.remaining, rollback_.leftOutOf(claim.chunk));
    leaveOut(work, leftOut);
    for (const auto& range : subtract(claim.remaining, leftOut)) {
        FURROW_TRY_ASSIGN(auto cut, trainRange(work, range));
        if (cut == Cut::TooManyBad)
            return rollBack(work);
        if (cut != Cut::None) {
            FURROW_TRY(endChunk(work, true));
            return cut;
        }
    }
    std::vector<StepOutcome> known;
    steps_->flush(known);
    FURROW_TRY(record(work, known));
    if (badInARow_ >= setup_.config.nanLimit)
        return rollBack(work);
    FURROW_TRY(endChunk(work, false));
    return Cut::None;
}

/// Windows that a roll-back has given up: counted as seen, in no weights.
void TrainingSession::leaveOut(ChunkWork& work, const std::vector<WindowRange>& windows)
{
    if (windows.empty())
        return;
    if (!work.begun) {
        work.begun = true;
        ledger_->begin(work.claim);
    }
    for (const auto& range : windows) {
        append(work.outcome.skipped, range);
        work.windowsDone += range.size();
    }
    work.positionTokens += labelsIn(*work.data->windows, windows);
    skippedSinceCommit_ = true;
    const Message text = sentence(
        "windows %1 are left out: they were not finite before and after a roll-back", { encodeRanges(windows) });
    logWarning(toString(work.claim.chunk) + ": " + text);
    tellEvent(EventRecord::Kind::Nan, text, work.claim.chunk);
}

/// Too many steps in a row were not finite. The worker ends, its next incarnation goes on from the last checkpoint, and
/// does something otherwise.
Error TrainingSession::rollBack(const ChunkWork& work)
{
    const std::int32_t windows = badStart_.chunk == work.claim.chunk
        ? work.claim.windows
        : badStart_.windows.end; // it may have begun at the end of the chunk before
    const Rollback next = afterBadSteps(rollback_, badStart_.chunk, badStart_.windows, windows);
    const Message place = toString(badStart_.chunk);
    const std::vector<Argument> facts { std::to_string(badInARow_), place, encodeRanges({ next.newest().windows }) };
    const Message text = next.newest().leftOut
        ? sentence(
              "%1 steps in a row were not finite, again in %2: going back to the last checkpoint, and its windows %3 are left out.",
              facts)
        : sentence(
              "%1 steps in a row were not finite in %2 from windows %3 on: going back to the last checkpoint, with the learning rate at %4 % of the schedule.",
              { facts[0], facts[1], facts[2], Real(100 * next.rateFactor, 1) });
    FURROW_TRY(ledger_->call([note = toJsonText(next)](WorkerLedger& ledger) { return ledger.keepRollback(note); }));
    tellEvent(EventRecord::Kind::Rollback, text, badStart_.chunk);
    return Error { ErrorCode::Internal, text };
}

/// Shows the alarm for losses that are too good a part of the text.
void TrainingSession::judgeBy(const ChunkWork& work)
{
    constexpr std::uint64_t kTokens = 50'000;
    const auto& text = work.data->text;
    const auto end = std::upper_bound(text.offsets.begin(), text.offsets.end(), kTokens) - text.offsets.begin() - 1;
    const auto samples = std::clamp<std::ptrdiff_t>(end, std::min<std::ptrdiff_t>(1, text.count()), text.count());
    const auto tokens = std::min(text.offsets[static_cast<std::size_t>(samples)], 4 * kTokens);
    // Other epochs are not judged, nor are conversations: what is learnt of them is another text than what they hold.
    const bool isJudged = work.claim.epoch == 0 && text.learnt.empty();
    tooGood_.beginChunk(work.claim.epoch,
        isJudged ? tokenizer_->decode(std::span(text.tokens).first(tokens)) : std::string(),
        static_cast<std::int64_t>(tokens) + samples);
}

Result<TrainingSession::Cut> TrainingSession::trainRange(ChunkWork& work, WindowRange range)
{
    const std::int64_t most = setup_.windowsPerStep();
    while (range.size() > 0) {
        auto cut = lookAround();
        if (!cut.ok() || cut.value() != Cut::None)
            return cut;
        const std::int64_t asked = systemClock().monotonicNs();
        FURROW_TRY_ASSIGN(auto step, ledger_->takeStep());
        waitedSeconds_ += secondsBetween(asked, systemClock().monotonicNs());
        if (!step)
            return Cut::Budget;
        if (!work.begun) {
            work.begun = true;
            ledger_->begin(work.claim);
            failPoint("claim.begun");
        }
        const auto windows = nextStep(range, most);
        FURROW_TRY(trainStep(work, windows));
        range.begin = windows.end;
        if (badInARow_ >= setup_.config.nanLimit)
            return Cut::TooManyBad;
        failPoint("step.done");
        if (checkpointDue() && !writer_->busy()) {
            const double rest = static_cast<double>(work.windowsToDo - work.windowsDone) / static_cast<double>(most)
                * meanStepSeconds_;
            const double patience = std::min(
                5.0, setup_.config.checkpointMinutes * 6); // a tenth of the interval: the chunk's end is near enough
            if (rest > patience && range.size() > 0)
                startCheckpoint(&work);
        }
        FURROW_TRY(evaluateWhenDue());
        sampleWhenDue();
    }
    return Cut::None;
}

Result<TrainingSession::Cut> TrainingSession::lookAround()
{
    FURROW_TRY(ledger_->status());
    FURROW_TRY(collectCheckpoint(false));
    if (stopWanted())
        return Cut::Stop;
    if (mergeWanted())
        return Cut::Merge;
    const auto signals = ledger_->signals();
    if (signals.saveRequest > saveRequestSeen_) {
        saveRequestSeen_ = signals.saveRequest;
        pendingSave_ = true;
    }
    if (signals.evalRequest > evalRequestSeen_) {
        evalRequestSeen_ = signals.evalRequest;
        FURROW_TRY(evaluate("asked for"));
    }
    return Cut::None;
}

Status TrainingSession::trainStep(ChunkWork& work, WindowRange windows)
{
    const std::int64_t began = systemClock().monotonicNs();
    try {
        const double rate
            = learningRate(schedule_, state_.ownSteps, work.positionTokens) * adaptive_.factor() * rollback_.rateFactor;
        const std::uint64_t noise = noiseSeed();
        if (ranks_)
            FURROW_TRY(ranks_->give({ RankOrder::Kind::Step, work.claim, {}, windows, state_.ownSteps, rate, noise }));
        auto step = makeStep(*batches_, *work.data->windows, work.claim, windows, 0, setup_.ranks);
        step.noiseSeed = noise;
        const double making = secondsBetween(began, systemClock().monotonicNs());
        waitedSeconds_ += making;
        totals_.dataSeconds += making;
        if (auto* model = learner_->model()) // so that a resumed run drops and explores what the unbroken one does
            model->reseed(mixSeed({ static_cast<std::uint64_t>(setup_.config.seed),
                static_cast<std::uint64_t>(options_.replica), static_cast<std::uint64_t>(state_.ownSteps) }));
        std::vector<StepOutcome> known;
        FURROW_TRY(steps_->run(step, rate, known));
        work.windowsDone += windows.size();
        work.positionTokens += static_cast<double>(step.labels);
        return record(work, known);
    } catch (const c10::OutOfMemoryError& e) {
        return outOfMemory(std::string(e.what_without_backtrace()).substr(0, kMostSaid));
    } catch (const std::bad_alloc&) {
        return outOfMemory(sentence("no memory left on the host"));
    } catch (const c10::Error& e) {
        const std::string text = e.what_without_backtrace();
        if (text.find("can't allocate memory") != std::string::npos) // libtorch's word for it on a CPU
            return outOfMemory(text.substr(0, kMostSaid));
        return Error { ErrorCode::Internal, sentence("training %1: %2", { toString(work.claim.chunk), text }) };
    }
}

/// Of the next step. What was lost counts in it: a step that is trained again, on other windows, with the noise that
/// it had before would show what differs between the two, without any noise.
std::uint64_t TrainingSession::noiseSeed() const
{
    constexpr std::uint64_t kNoise = 0x6e6f697365; // so that dropout's seeds are others
    return mixSeed(
        { kNoise, static_cast<std::uint64_t>(setup_.config.seed), static_cast<std::uint64_t>(options_.replica),
            static_cast<std::uint64_t>(state_.ownSteps), static_cast<std::uint64_t>(noiseSalt_) });
}

/// At the first step of a chunk: its units have taken part once more.
void TrainingSession::tellPrivacy(ChunkWork& work)
{
    const RunConfig& c = setup_.config;
    const bool isCounted = work.claim.participations > 0; // else the history that says how often is lost
    if (c.noiseMultiplier <= 0 || c.targetDelta <= 0 || !isCounted || std::exchange(work.privacyTold, true))
        return;
    telemetry_->write(PrivacyRecord { systemClock().monotonicNs(), state_.ownSteps, work.claim.participations,
        epsilonOf(furrow::lossOf(work.claim.participations, c.noiseMultiplier), c.targetDelta), c.targetDelta });
}

Error TrainingSession::outOfMemory(const Message& said)
{
    const auto& c = setup_.config;
    const std::vector<Argument> facts { options_.device, std::to_string(c.batchSize), std::to_string(c.seqLen),
        Bytes(static_cast<std::uint64_t>(memory_.read(setup_.device).peakBytes)), said };
    const bool canRecompute = !c.recompute && c.architecture == Architecture::Gpt;
    return { ErrorCode::Internal, sentence(canRecompute ? kStepTooLargeWithoutRecompute : kStepTooLarge, facts) };
}

Status TrainingSession::record(ChunkWork& work, const std::vector<StepOutcome>& outcomes)
{
    for (const auto& step : outcomes) {
        const std::int64_t now = systemClock().monotonicNs();
        const double sinceLast = secondsBetween(lastStepEndNs_ > 0 ? lastStepEndNs_ : startedNs_, now);
        lastStepEndNs_ = now;
        const double stepSeconds = step.backwardSeconds + step.optimizerSeconds;
        totals_.trainSeconds += stepSeconds;
        if (warm_) // the first one is no measure of the others
            pace_.addStep(step.bad ? 0 : static_cast<double>(step.ownTokens), sinceLast);
        meanStepSeconds_ = meanStepSeconds_ == 0 ? stepSeconds : 0.95 * meanStepSeconds_ + 0.05 * stepSeconds;
        if (step.bad) {
            if (badInARow_++ == 0)
                badStart_ = { work.claim.chunk, step.windows };
            else if (badStart_.chunk == work.claim.chunk)
                badStart_.windows.end = step.windows.end;
            append(work.outcome.skipped, step.windows);
            skippedSinceCommit_ = true;
            ledger_->untakeStep();
            const Message text
                = sentence("the loss or gradient norm of windows %1-%2 is not finite; the step is left out",
                    { std::to_string(step.windows.begin), std::to_string(step.windows.end) });
            logWarning(toString(work.claim.chunk) + ": " + text);
            tellEvent(EventRecord::Kind::Nan, text, work.claim.chunk);
        } else {
            badInARow_ = 0;
            append(work.outcome.done, step.windows);
            ++work.stepsDone;
            ++totals_.stepsHere;
            ++state_.ownSteps;
            ++state_.step;
            ++state_.stepsSinceBase;
            state_.tokens += step.tokens;
            const std::int64_t samples = samplesEnding(*work.data, step.windows);
            state_.samples += samples;
            state_.ownSamples += samples;
            state_.ownTokens += step.tokens;
            state_.tokensSinceBase += step.tokens;
            work.outcome.tokens += step.tokens;
            // The ledger divides by tokens, so each label counts with the mean of its step.
            work.outcome.lossSum
                += step.learnt == step.tokens ? step.lossSum : step.meanLoss() * static_cast<double>(step.tokens);
            if (work.bySample)
                work.bySample->add(*work.data->windows, step.ownWindows,
                    std::span(
                        step.losses_WT.const_data_ptr<float>(), static_cast<std::size_t>(step.losses_WT.numel())));
            work.outcome.peakGradientNorm = std::max(work.outcome.peakGradientNorm, step.gradientNorm);
            if (step.learnt > 0) // else the step says nothing of the model
                lastLoss_ = step.meanLoss();
            judge(work, step);
            tellLeftOut(work, step);
            if (const auto alarm = tooGood_.addStep(step.lossSum, step.learnt, state_.tokens)) {
                logWarning(toString(work.claim.chunk) + ": " + *alarm);
                tellEvent(EventRecord::Kind::Alarm, *alarm, work.claim.chunk);
            }
        }
        warm_ = true;
        StepRecord line;
        line.monotonicNs = now;
        line.step = state_.ownSteps;
        line.epoch = work.claim.epoch;
        line.block = work.claim.block;
        line.chunk = work.claim.chunk.value;
        line.samples = state_.ownSamples;
        line.tokens = state_.ownTokens;
        line.stepTokens = step.tokens;
        line.loss = step.learnt > 0 || !std::isfinite(lastLoss_) ? step.meanLoss() : lastLoss_;
        line.lr = step.learningRate;
        line.gradientNorm = step.gradientNorm;
        line.parameterNorm = step.parameterNorm;
        if (setup_.config.clipPerSample > 0 && step.sampleNorms_W.numel() > 0) {
            line.windowNorm = step.sampleNorms_W.nanmedian().item<double>();
            line.clipped = step.sampleNorms_W.gt(setup_.config.clipPerSample).to(torch::kFloat).mean().item<double>();
        }
        if (work.data->windows->holdsPairs() && step.learnt > 0) {
            const auto pairs = static_cast<double>(step.learnt);
            line.pairs = { step.learnt, step.marginSum / pairs, static_cast<double>(step.preferred) / pairs };
        }
        line.tokensPerSecond = static_cast<double>(step.ownTokens) / std::max(sinceLast, 1e-9);
        line.ranks = setup_.ranks > 1 ? setup_.ranks : 0;
        line.time.waitData = std::exchange(waitedSeconds_, 0) * 1e3;
        line.time.backward = step.backwardSeconds * 1e3; // forward and backward are one call of the model
        line.time.optimizer = step.optimizerSeconds * 1e3;
        line.time.checkpoint = std::exchange(stalledSeconds_, 0) * 1e3;
        line.memoryBytes = memory_.read(setup_.device).bytes;
        if (!step.bad)
            telemetry_->write(line);
        tellPrivacy(work);
        if (now - lastClaimWaitsNs_ > kClaimWaitsEveryNs)
            tellClaimWaits();
        tellProgress(WorkerPhase::Train, &work);
        totals_.telemetrySeconds += secondsBetween(now, systemClock().monotonicNs());
    }
    return {};
}

/// Windows without a finite gradient are in no step and in no loss, and nobody else would say so.
void TrainingSession::tellLeftOut(const ChunkWork& work, const StepOutcome& step)
{
    if (!step.sampleNorms_W.defined())
        return;
    const auto bad = step.sampleNorms_W.isfinite().logical_not().sum().item<std::int64_t>();
    if (bad == 0)
        return;
    const Message text = sentence("the gradients of %1 of the windows %2-%3 are not finite: they count as zero",
        { Count(bad), std::to_string(step.windows.begin), std::to_string(step.windows.end) });
    logWarning(toString(work.claim.chunk) + ": " + text);
    tellEvent(EventRecord::Kind::Nan, text, work.claim.chunk);
}

/// Looks at the loss of a good step: marks spikes, and adapts the rate where that is wanted.
void TrainingSession::judge(const ChunkWork& work, const StepOutcome& step)
{
    const auto fullStep = setup_.windowsPerStep() * setup_.config.seqLen;
    if (!learner_->model() || step.learnt == 0 || step.tokens * 2 < fullStep)
        return; // a chunk shorter than a step says little
    if (const double z = spikes_.observe(lastLoss_); z > 0)
        tellEvent(EventRecord::Kind::Spike,
            sentence("loss %1 in windows %2-%3 is an outlier: robust z-score %4",
                { Real(lastLoss_, 4), std::to_string(step.windows.begin), std::to_string(step.windows.end),
                    Real(z, 1) }),
            work.claim.chunk);
    if (const auto diverged = divergence_.observe(lastLoss_)) {
        const Message text = sentence(
            "training has diverged: the mean loss of %1 steps is %2, the best so far was %3. Stop it and go back to a checkpoint before that (resume --from-checkpoint) with a lower rate.",
            { std::to_string(DivergenceWatch::kWindow), Real(diverged->mean, 4), Real(diverged->best, 4) });
        logWarning(text);
        tellEvent(EventRecord::Kind::Alarm, text, work.claim.chunk);
    }
    if (!setup_.config.adaptiveLr)
        return;
    if (const auto why = adaptive_.observe(lastLoss_); !why.empty())
        tellEvent(EventRecord::Kind::Alarm, why);
    state_.adaptive = adaptive_.state();
}

Status TrainingSession::endChunk(ChunkWork& work, bool partly)
{
    std::vector<StepOutcome> known;
    steps_->flush(known);
    FURROW_TRY(record(work, known));
    if (!work.begun) { // untouched: it goes back as if it had never been claimed
        ledger_->postWrite([claim = work.claim](WorkerLedger& ledger) { return ledger.release(claim); });
        return {};
    }
    std::vector<Part> fresh = work.unfrozen(-1);
    if (partly && fresh.empty()) {
        // Everything trained of it is in a checkpoint already: once that one is committed, the rest can go back.
        FURROW_TRY(collectCheckpoint(true));
        ledger_->postWrite([claim = work.claim](WorkerLedger& ledger) { return ledger.release(claim); });
        return {};
    }
    if (!partly)
        for (const auto& range : work.outcome.skipped) // settled with the rest of the chunk
            fresh.push_back({ work.claim.chunk, range, -1, true });
    work.outcome.lastStep = work.outcome.firstStep + work.stepsDone - 1;
    if (work.bySample)
        work.outcome.sampleLosses = work.bySample->extremes();
    ledger_->finish(work.claim, work.outcome, partly);
    uncommitted_.insert(uncommitted_.end(), fresh.begin(), fresh.end());
    failPoint("chunk.trained");
    return {};
}

} // namespace furrow
