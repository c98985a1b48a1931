#pragma once

#include "core/base/result.h"
#include "core/data/plan/held_out.h"
#include "core/telemetry/pair_marks.h"
#include "core/train/loop/batch_torch.h"
#include "core/train/model/model_torch.h"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace furrow {

/// What an evaluation found. Sums over unmasked labels; the scope is one set of weights on one text.
struct Evaluation {
    double loss = 0; ///< nats per token
    double accuracy = 0; ///< share of labels that are the likeliest token; 0 unless asked for, and of pairs
    std::int64_t tokens = 0; ///< that count in the loss; 0 of pairs
    PairMarks pairs {}; ///< of answers: then `loss` is a mean over these
    double bitsPerByte = 0; ///< over the whole text; 0 when its bytes are not known, or not all of it is learnt
    double perplexity() const;
};

/// A frozen text, packed once, and always the same first batches of it.
class EvaluationSet {
public:
    /// How a text is cut into batches.
    struct Cut {
        WindowRules windows;
        std::int64_t batchSize = 0;
        std::int64_t maxBatches = 0; ///< 0: all
        std::optional<PreferenceRule> preference {}; ///< of pairs of answers, as the windows say
    };
    EvaluationSet(HeldOut heldOut, std::uint32_t endOfText, const Cut& cut, c10::Device device);

    bool empty() const { return batches_.empty(); }
    bool alsoTrained() const { return heldOut_->alsoTrained; }
    /// @param goOn  called after each batch, so that the lease lives; false ends early with Cancelled. May be empty.
    Result<Evaluation> run(Model& model, bool withAccuracy, const std::function<bool()>& goOn = {}) const;

private:
    Result<Evaluation> runPairs(Model& model, const std::function<bool()>& goOn) const;

    std::unique_ptr<HeldOut> heldOut_; ///< on the heap: ChunkWindows looks into it
    std::vector<Batch> batches_;
    std::int64_t labels_ = 0; ///< learnt ones in `batches_`
    std::optional<PreferenceRule> preference_;
    std::int64_t allLabels_ = 0; ///< of the whole text, also what is not in `batches_`
};

} // namespace furrow
