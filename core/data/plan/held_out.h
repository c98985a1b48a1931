#pragma once

#include "core/base/result.h"
#include "core/config/run_config.h"
#include "core/data/block/chunk_windows.h"
#include "core/data/plan/each_row.h"
#include "core/data/plan/inspect.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace furrow {

class Tokenizer;

/// The evaluation set of a run: samples that no worker trains, frozen before step 0.
struct HeldOut {
    ChunkText text; ///< source order, flags all 0; pack it with ChunkWindows and PackingOrder { .shuffle = false }
    std::uint64_t textBytes = 0; ///< for losses per byte
    bool complete = true; ///< every held-out sample of the data set is in it
    RowsLeft left; ///< of readEvaluationText(): rows that are not in it; the file does not keep them
    bool alsoTrained = false; ///< the data had no held-out sample; these are its first samples, which are trained too
};

struct HeldOutLimits {
    std::int64_t maxTokens = 1 << 20;
    std::uint64_t maxScannedBytes = 256ull << 20; ///< of text, read to find them
};

/// What one evaluation during the training takes, and no less than gives a loss that can be compared: more would only
/// be looked for longer, on the hub downloaded, before the first step.
HeldOutLimits heldOutLimits(const RunConfig& config);

/// True when the text is on the held-out side: decided by its fingerprint alone, stable under any order.
bool isHeldOut(std::uint64_t fingerprint, double heldOutPercent);

/// The samples of `source`, cut and filtered as the run's data, or as many of the first ones as the limits allow.
/// InvalidArgument when it has none.
Result<HeldOut> readEvaluationText(
    const RunConfig& config, const std::string& source, const Tokenizer& tokenizer, const HeldOutLimits& limits = {});

/// Rows that are not in an evaluation text, and why, in sentences; nothing where all are.
std::vector<Message> leftInWords(const RowsLeft& left);

/// Writes the evaluation set of a run to `path` (durably), and says which rows of eval_data are not in it: the text of
/// eval_data, or held-out samples from the beginning of the data set. With held_out_percent 0 the set is empty; with a
/// data set too small to have one, it is the first samples, marked as alsoTrained.
Result<RowsLeft> freezeHeldOut(const RunConfig& config, const std::string& manifest, const Tokenizer& tokenizer,
    const std::filesystem::path& path, const HeldOutLimits& limits = {});

/// No file of an evaluation set is larger.
inline constexpr std::uint64_t kMostHeldOutBytes = 4ull << 30;

Result<HeldOut> readHeldOut(const std::filesystem::path& path);

/// Windows that one evaluation takes: `most` of them (0: all), or more where nothing is learnt in these.
std::int32_t evaluatedWindows(const ChunkWindows& windows, std::int64_t most);

/// What one evaluation during the training takes.
struct EvaluatedText {
    std::int64_t labels = 0; ///< that count in its loss: the frozen text, or as much of it as `eval_batches` takes. 0:
                             ///< there is none, or it cannot be read
    bool alsoTrained = false; ///< as HeldOut
    bool arePairs = false; ///< `labels` are pairs of answers
};
/// Of plain text end to end the head of the file says it, and is all that is read.
EvaluatedText evaluatedText(const std::filesystem::path& path, const RunConfig& config);

} // namespace furrow
