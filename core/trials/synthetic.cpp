#include "core/base/sentence.h"
#include "core/trials/synthetic_part.h"

#include <algorithm>
#include <fstream>

namespace furrow {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// Steps `first` to `last` of one worker, with chunks by a formula that knows no ledger.
void writePart(const SyntheticRun& run, const SyntheticPart& part, std::int64_t first, std::int64_t last, bool crashes,
    std::ostream& out, SyntheticTotals& totals)
{
    SyntheticWriter writer(run, part, out, totals);
    const auto checkpointEvery = std::max<std::int64_t>(2, part.ownSteps / 40);
    writer.begin();
    for (auto step = first; step <= last; ++step) {
        const std::int64_t ordinal = (step - 1) / run.stepsPerChunk * run.workers + part.worker;
        const std::int64_t block = ordinal / run.chunksPerBlock;
        const bool saves = step % checkpointEvery == 0;
        const SyntheticStep one { step, block, 100'000'000'000'000 + block * 1'000'000 + ordinal % run.chunksPerBlock,
            step * (4000 / run.stepsPerChunk), step * run.stepTokens, run.stepTokens };
        writer.step(one, saves ? 900 + 300 * writer.random().uniform() : 0);
        if (!saves)
            continue;
        writer.checkpoint(step / checkpointEvery);
        if (step / checkpointEvery % 2 == 0)
            writer.evaluation(one);
    }
    if (!crashes)
        writer.end("the end of the epoch was reached");
    writer.drain();
}

} // namespace

Status checkSynthetic(const SyntheticRun& run)
{
    if (run.workers < 1 || run.workers > 1024 || run.steps < run.workers || run.attempts < 1 || run.attempts > 1000)
        return Error { ErrorCode::InvalidArgument,
            sentence("An invented run needs 1 to 1024 workers, 1 to 1000 attempts and a step for each worker.") };
    return {};
}

Result<SyntheticTotals> writeSyntheticTelemetry(const std::filesystem::path& folder, const SyntheticRun& run)
{
    FURROW_TRY(checkSynthetic(run));
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    SyntheticTotals totals;
    // The last of several workers has the slower device and does fewer steps, so that all end together.
    const double share = run.workers == 1 ? 1 : 1 / (run.workers - 1 + 1 / kSlowWorker);
    const auto perWorker = std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(run.steps) * share));
    for (int worker = 0; worker < run.workers; ++worker) {
        const bool last = worker == run.workers - 1;
        const auto own = last ? std::max<std::int64_t>(1, run.steps - perWorker * (run.workers - 1)) : perWorker;
        std::int64_t wallNs = run.startWallNs;
        std::int64_t first = 1;
        for (int attempt = 1; attempt <= run.attempts; ++attempt) {
            const bool crashes = attempt < run.attempts;
            const auto until = crashes ? own * attempt / run.attempts : own;
            const SyntheticPart part { "synthetic-" + std::to_string(run.seed), attempt, worker, own, wallNs };
            const auto path = folder / (std::to_string(attempt) + "-w" + std::to_string(worker) + ".jsonl");
            std::ofstream out(path, std::ios::binary | std::ios::trunc);
            writePart(run, part, first, until, crashes, out, totals);
            if (!out.flush())
                return Error { ErrorCode::Io, path.string() + " cannot be written: check space and permissions" };
            const auto lost = static_cast<std::int64_t>(run.redoneShare * static_cast<double>(until - first + 1));
            // Attempts of all workers begin together, after the slowest of the one before.
            wallNs += static_cast<std::int64_t>(
                          static_cast<double>(perWorker + 1) / run.attempts * run.stepSeconds * 1.05 * kSecond)
                + kSyntheticPauseNs;
            first = until + 1 - lost;
        }
    }
    return totals;
}

} // namespace furrow
