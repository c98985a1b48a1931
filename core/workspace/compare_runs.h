#pragma once

#include "core/base/message.h"
#include "core/config/schema.h"
#include "core/run/status/run_status.h"

#include <nlohmann/json_fwd.hpp>

namespace furrow {

/// One of the runs that are compared.
struct ComparedRun {
    std::string folder;
    std::string name; ///< with the folder where another one of them is called so too
    RunStatus status;
    std::vector<ConfigChange> changes; ///< made by resumes, in their order
    double meanTokensPerSecond = 0; ///< over its active time; 0: nothing trained
    std::int64_t chunksTrained = 0; ///< of the first epoch, with a loss, that weights have
    std::int64_t chunksLost = 0; ///< of the first epoch: trained with a loss, and no weights have them any more
    std::int64_t chunksLeftOut = 0; ///< of the first epoch, untrained by name
    std::int64_t chunksOfParent = 0; ///< of the first epoch, left out as the parent run trained them
    double meanLoss = 0; ///< over those; NaN: none
};

/// A setting that is not the same in all of them.
struct ConfigDifference {
    const Setting* setting = nullptr;
    std::vector<std::string> values; ///< one a run; "4 → 1" where a resume changed it
};

/// How one run did on the chunks that the baseline trained too.
struct ChunkAlignment {
    Message problem; ///< why chunk n of one is not chunk n of the other; empty: it is
    std::int64_t common = 0; ///< chunks with a loss in both
    std::int64_t better = 0; ///< of them with a lower loss than the baseline
    double meanDifference = 0; ///< loss minus the baseline's, nats per token or per pair; NaN: none in common
    struct Chunk {
        std::int64_t block = 0;
        std::int32_t column = 0;
        double difference = 0;
    };
    std::vector<Chunk> worst; ///< at most 20, largest difference first
};

struct RunComparison {
    std::vector<ComparedRun> runs; ///< the first one is the baseline
    std::vector<Message> caveats; ///< figures that stand side by side and cannot be compared, in sentences
    std::vector<ConfigDifference> differences; ///< in schema order
    std::vector<ChunkAlignment> alignments; ///< of runs[1], runs[2], ...
};

/// Takes the loss away of chunks that no weights have any more. @param cells  of one epoch @return of how many
std::int64_t takeOutLost(std::vector<ChunkCell>& cells, const RunStatus& status);

/// Compares two to eight runs, the first one being the baseline. Chunks are aligned by block and column of the first
/// epoch; that means the same text only when data and chunk settings are the same, which is checked and said.
Result<RunComparison> compareRuns(const std::vector<std::filesystem::path>& folders);

nlohmann::json toJson(const RunComparison& comparison);
std::string comparisonText(const RunComparison& comparison);

} // namespace furrow
