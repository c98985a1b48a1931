#include "core/train/loop/evaluation_torch.h"

#include "core/base/sentence.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>

namespace furrow {

double Evaluation::perplexity() const { return std::exp(loss); }

EvaluationSet::EvaluationSet(HeldOut heldOut, std::uint32_t endOfText, const Cut& cut, c10::Device device)
    : heldOut_(std::make_unique<HeldOut>(std::move(heldOut)))
    , preference_(cut.preference)
{
    if (heldOut_->text.count() == 0)
        return;
    for (auto& flags : heldOut_->text.flags) // here they are the text, not what is left out of it
        flags = 0;
    const ChunkWindows windows(heldOut_->text, endOfText, cut.windows, PackingOrder { .shuffle = false });
    for (int w = 0; w < windows.count(); ++w)
        allLabels_ += windows.labelCount(w);
    const std::int32_t count = evaluatedWindows(windows, cut.maxBatches * cut.batchSize);
    batches_ = BatchMaker(device, cut.batchSize, cut.windows.seqLen).make(windows, { 0, count });
    for (const auto& batch : batches_)
        labels_ += batch.learnt;
}

Result<Evaluation> EvaluationSet::runPairs(Model& model, const std::function<bool()>& goOn) const
{
    if (!model.comparesWithStart())
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "pairs of answers are compared with the start weights of a run, and this model does not have them") };
    Evaluation result;
    try {
        for (const auto& batch : batches_) {
            const auto pass = model.pairPass(pairRowsOf(batch), *preference_);
            result.pairs.pairs += batch.learnt;
            result.loss += pass.losses_BT.sum(torch::kFloat64).item<double>(); // sync: as for texts
            result.pairs.margin += pass.margins_P.sum(torch::kFloat64).item<double>();
            result.pairs.preferred += static_cast<double>(pass.margins_P.gt(0).sum().item<std::int64_t>());
            if (goOn && !goOn())
                return Error { ErrorCode::Cancelled, sentence("the evaluation was interrupted") };
        }
    } catch (const c10::Error& e) {
        return Error { ErrorCode::Internal, sentence("evaluating: %1", { e.what_without_backtrace() }) };
    }
    for (double* sum : { &result.loss, &result.pairs.margin, &result.pairs.preferred })
        *sum /= static_cast<double>(result.pairs.pairs);
    return result;
}

Result<Evaluation> EvaluationSet::run(Model& model, bool withAccuracy, const std::function<bool()>& goOn) const
{
    if (labels_ == 0)
        return Error {
            ErrorCode::InvalidArgument,
            sentence(
                "there is no held-out text to evaluate on; set held_out_percent above 0 in a new run, or name a file with --data")
        };
    if (preference_)
        return runPairs(model, goOn);
    const torch::NoGradGuard noGrad;
    double sum = 0;
    std::int64_t right = 0;
    try {
        for (const auto& batch : batches_) {
            sum += model.lossSum(batch.inputs_BT, batch.labels_BT, batch.places_BT)
                       .sum.item<double>(); // sync: the sum is kept in float64
            if (withAccuracy)
                right += (model.logits(batch.inputs_BT, batch.places_BT).argmax(-1) == batch.labels_BT)
                             .sum()
                             .item<std::int64_t>(); // masked labels are -1, never likeliest
            if (goOn && !goOn())
                return Error { ErrorCode::Cancelled, sentence("the evaluation was interrupted") };
        }
    } catch (const c10::Error& e) {
        return Error { ErrorCode::Internal, sentence("evaluating: %1", { e.what_without_backtrace() }) };
    }
    Evaluation result;
    result.tokens = labels_;
    result.loss = sum / static_cast<double>(labels_);
    result.accuracy = static_cast<double>(right) / static_cast<double>(labels_);
    if (heldOut_->textBytes > 0 && heldOut_->text.learnt.empty()) // bytes per token are those of the whole text
        result.bitsPerByte
            = result.loss / std::log(2.0) * static_cast<double>(allLabels_) / static_cast<double>(heldOut_->textBytes);
    return result;
}

} // namespace furrow
