#pragma once

#include "core/base/result.h"
#include "core/config/run_config.h"
#include "core/run/folder/epoch_length.h"
#include "core/run/folder/run_paths.h"

#include <cstdint>
#include <string>
#include <vector>

namespace furrow {

/// run.json: the frozen configuration and where everything came from. Never rewritten after creation.
struct RunFile {
    std::string runId; ///< 16 hex digits; the tracker carries the same
    RunConfig config;
    std::string preset;
    std::int64_t createdWallNs = 0;
    std::string furrowVersion;
    std::string dataIdentity; ///< hash of what defines the rows
    std::string dataManifest; ///< JSON text: files, sizes, hashes (or repository and revision)
    std::string tokenizerHash;
    std::uint32_t vocabularySize = 0;
    std::string heldOutHash; ///< SHA-256 of heldout.bin; "": made by a version that did not keep it
    std::vector<Message> evaluationNotes; ///< rows of eval_data that are not in the evaluation text, and why; sentences
    std::string originHash; ///< originHash() of the run; "": it has none, or a version that did not keep it made it
    std::string startWeightsHash; ///< startWeightsHash() of init_from; "": from noise, or not kept
    std::string questionsHash; ///< SHA-256 of questions.jsonl; "": the run has none
    std::int64_t samplesPerBlock = 0; ///< in force
    EpochLength epoch; ///< without labels: made by a version that did not keep it
    Message samplesPerBlockReason; ///< why it differs from the configuration, or ""
    std::string parentRun; ///< run id this one was started from, or ""
    /// Of the chunks that the parent run trained (core/tracker/inherited_list.h); "": no parent, or a version that did
    /// not keep it
    std::string parentListHash;
};

/// NotFound where the folder is away, or is not that of a run.
Status checkIsRun(const RunPaths& paths);

/// Refuses a newer format with the version that can read it. `identityProblem` names edited fields that would change
/// the chunks.
Result<RunFile> readRunFile(const RunPaths& paths);
Status writeRunFile(const RunPaths& paths, const RunFile& file);

} // namespace furrow
