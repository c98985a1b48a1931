#pragma once

#include <torch/torch.h>

#include "tiny_run.h"

#include "core/collective/rank_group_torch.h"
#include "core/train/checkpoint/checkpoint_torch.h"

// A data-parallel group whose ranks are threads of one process.

namespace furrow::test {

/// Runs `work` on one thread for each rank, with a group of its own; what it returns, by rank.
template <typename Work> auto onRanks(int ranks, Work work, double timeoutSeconds = 20)
{
    using Value = std::invoke_result_t<Work, RankGroup&>;
    QTemporaryDir folder;
    std::vector<std::optional<Value>> values(static_cast<std::size_t>(ranks));
    std::vector<std::string> errors(static_cast<std::size_t>(ranks));
    {
        std::vector<std::jthread> threads;
        for (int rank = 0; rank < ranks; ++rank)
            threads.emplace_back([&, rank] {
                RankGroupOptions options;
                options.rank = rank;
                options.ranks = ranks;
                options.meetingFile = folder.filePath("meeting").toStdString();
                options.timeoutSeconds = timeoutSeconds;
                auto group = RankGroup::join(options);
                if (group.ok())
                    values[static_cast<std::size_t>(rank)].emplace(work(*group.value()));
                else
                    errors[static_cast<std::size_t>(rank)] = group.error().message;
            });
    }
    std::vector<Value> all;
    for (std::size_t rank = 0; rank < values.size(); ++rank) {
        if (!values[rank])
            throw std::runtime_error(errors[rank]);
        all.push_back(std::move(*values[rank]));
    }
    return all;
}

inline RunConfig oneWorker(std::int64_t batch)
{
    auto c = TinyRun::config();
    c.batchSize = batch;
    c.gradAccum = 2;
    c.warmupSteps = 3;
    return c;
}

inline RunConfig twoRanks(std::int64_t batch)
{
    auto c = oneWorker(batch);
    c.devices = "cpu:2";
    c.workers = 2;
    c.parallel = ParallelMode::Data;
    c.rankTimeout = 30;
    return c;
}

inline std::vector<TrainerEnd> trainRanks(
    TinyRun& run, int ranks = 2, const std::function<bool(int)>& stops = {}, bool counting = false)
{
    std::vector<std::optional<Result<TrainerEnd>>> ends(static_cast<std::size_t>(ranks));
    const auto meeting = run.paths().folder() / ("meeting-" + std::to_string(run.attempt()));
    {
        std::vector<std::jthread> threads;
        for (int rank = 0; rank < ranks; ++rank)
            threads.emplace_back([&, rank] {
                auto options = run.options(rank, counting);
                options.replica = 0;
                options.ranks = ranks;
                options.meetingFile = meeting;
                ends[static_cast<std::size_t>(rank)].emplace(
                    runTrainer(options, [&stops, rank] { return stops && stops(rank); }));
            });
    }
    std::vector<TrainerEnd> all;
    for (auto& end : ends)
        all.push_back(must(std::move(*end)));
    return all;
}

inline NamedTensors finalWeights(TinyRun& run)
{
    return must(loadCheckpoint(run.paths(), must(readRunFile(run.paths())).runId, run.head().record, {})).weights;
}

/// "" when each number of `a` is that of `b` within 1e-5, relative above 1. Not relative below: the gradient of a key
/// bias is zero but for rounding, and AdamW makes steps of that too.
inline std::string difference(const NamedTensors& a, const NamedTensors& b)
{
    if (a.size() != b.size())
        return "different tensors";
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double largest = b[i].second.abs().max().item<double>();
        const double most = (a[i].second - b[i].second).abs().max().item<double>();
        if (!(most <= 1e-5 * std::max(largest, 1.0)))
            return a[i].first + " differs by " + std::to_string(most) + " of " + std::to_string(largest);
    }
    return {};
}

} // namespace furrow::test
