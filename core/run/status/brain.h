#pragma once

#include "core/run/folder/run_file.h"
#include "core/run/status/run_weights.h"
#include "core/tracker/ledger_reader.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace furrow {

/// parent.json of a run that was started from a checkpoint of another one: what those weights had seen by then. Frozen
/// at creation.
struct ParentFile {
    std::string runId;
    std::string folder; ///< where the parent lay
    std::string checkpoint; ///< folder name below its checkpoints/
    std::int64_t step = 0;
    std::int64_t tokens = 0;
    bool sameData = false; ///< same data identity, blocks and chunks: only then `chunks` mean something here
    bool skipped = false; ///< parent_chunks=skip: the first epoch leaves `chunks` out, else they are trained again
    std::int64_t chunkCount = 0; ///< in `chunks`
    std::int64_t partlyChunks = 0; ///< not in `chunks`, since the weights have them in part: they are trained whole
    std::int64_t partlySamples = 0; ///< of those, in the weights already
    /// What the parent's weights had seen whole: with `skipped` in the pass that they were in, else in any. Columns by
    /// block, as the tracker writes ranges ("0-20 30-40").
    std::map<std::int64_t, std::string> chunks;
};

/// The checkpoint that init_from names, when it is one of a run. Nothing: it is another kind of folder. InvalidArgument
/// says why the run cannot go on from it as asked: another tokenizer, other chunks, nothing left to train. Reads the
/// parent's tracker.
Result<std::optional<ParentFile>> parentOf(const RunFile& child);
/// In words, of a run that was started from that checkpoint; "": its weights have no chunk in part, or it is not known.
Message partlyInherited(const ParentFile& parent);
Status writeParent(const RunPaths& paths, const ParentFile& parent);
/// Nothing: the run has no parent.
Result<std::optional<ParentFile>> readParent(const RunPaths& paths);

/// The lineage that a person keeps: weights, tokenizer, history.
struct Brain {
    struct Ancestor : ParentFile {
        bool there = false; ///< its folder still holds a run
    };
    std::string folder;
    RunFile file;
    std::optional<RunWeights> weights; ///< weightsOf() the run; nothing: not trained yet
    std::vector<EpochRow> epochs;
    std::int64_t steps = 0; ///< trained in this run, without its ancestors
    std::int64_t tokens = 0;
    std::vector<Ancestor> ancestors; ///< nearest first, as far as their folders are still there
};
Result<Brain> readBrain(const RunPaths& paths);

} // namespace furrow
