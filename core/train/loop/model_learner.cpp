#include "core/train/loop/learner_torch.h"
#include "core/base/sentence.h"
#include "core/train/loop/micro_step_torch.h"
#include "core/train/model/per_sample_torch.h"
#include "core/train/meters/profile_range.h"
#include "core/train/optim/loss_scale.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace furrow {

namespace {

constexpr const char* kLossScale = "loss_scale";

/// Moves what begins with `prefix` out of `tensors`; the names stay.
NamedTensors takeOut(NamedTensors& tensors, const std::string& prefix)
{
    const auto isOther = [&](const auto& one) { return one.first.rfind(prefix, 0) != 0; };
    const auto middle = std::stable_partition(tensors.begin(), tensors.end(), isOther);
    NamedTensors taken(middle, tensors.end());
    tensors.erase(middle, tensors.end());
    return taken;
}

class ModelLearner : public Learner {
public:
    ModelLearner(std::unique_ptr<Model> model, const OptimizerConfig& optimizer, const LearnerOptions& options)
        : model_(std::move(model))
        , optimizer_(createOptimizer(model_->parameters(), optimizer))
        , microStep_(*model_, options.cudaGraph)
        , emaDecay_(options.emaDecay)
    {
        if (options.scalesLoss)
            scale_.emplace();
        startAverage();
    }

    at::Tensor accumulate(const Batch& batch, double gradientScale) override
    {
        return microStep_.run(batch, gradientScale * lossScale());
    }

    Model::ClippedPass accumulateClipped(const Batch& batch, double scale, double clipNorm) override
    {
        return model_->clippedBackward(batch.inputs_BT, batch.labels_BT, scale, clipNorm, batch.places_BT);
    }

    Model::PairPass accumulatePairs(const Batch& batch, const PreferenceRule& rule, double scale) override
    {
        return model_->pairBackward(pairRowsOf(batch), rule, scale * lossScale());
    }

    void addNoise(double deviation, std::uint64_t seed) override
    {
        furrow::addNoise(model_->parameters().gradients(), deviation, seed);
    }

    at::Tensor apply(double learningRate, double clipNorm) override
    {
        const ProfileRange profiled("optimizer");
        auto norm = optimizer_->step(learningRate, clipNorm, lossScale());
        model_->parameters().zeroGradients();
        if (average_)
            average_->update(model_->parameters(), norm);
        model_->weightsChanged();
        if (scale_ && std::isfinite(norm.item<double>())) // sync: with fp16 the host must know whether the step fitted
            scale_->fitted();
        return norm;
    }

    void discard() override { model_->parameters().zeroGradients(); }
    at::Tensor gradients() override { return model_->parameters().gradients(); }
    bool scalesLoss() const override { return scale_.has_value(); }
    bool lowerLossScale() override { return scale_ && scale_->overflowed(); }

    void swapAverage() override
    {
        if (!average_)
            return;
        average_->swap(model_->parameters());
        model_->weightsChanged();
    }

    NamedTensors weights() const override
    {
        auto all = trainedState(*model_);
        if (average_) {
            const auto more = average_->state(model_->parameters());
            all.insert(all.end(), more.begin(), more.end());
        }
        return all;
    }

    NamedTensors frozenWeights() const override { return model_->frozen(); }

    NamedTensors optimizerState() const override
    {
        auto state = optimizer_->state();
        if (scale_)
            state.emplace_back(kLossScale, torch::tensor(scale_->value(), torch::kFloat64));
        return state;
    }

    Status loadWeights(const NamedTensors& weights) override
    {
        NamedTensors own = weights;
        const NamedTensors averaged = takeOut(own, kAveragePrefix);
        const NamedTensors frozen = frozenWeights();
        const auto isFrozen = [&](const auto& one) { return findTensor(frozen, one.first) != nullptr; };
        if (std::none_of(own.begin(), own.end(), isFrozen))
            own.insert(own.end(), frozen.begin(), frozen.end());
        FURROW_TRY(loadModelState(*model_, own));
        if (averaged.empty()) { // weights of another run: the average starts with them
            startAverage();
            return {};
        }
        if (!average_)
            return Error { ErrorCode::Corrupt,
                sentence("tensor '%1' is in the saved weights, but ema_decay is 0 here", { averaged.front().first }) };
        return average_->loadState(model_->parameters(), averaged);
    }

    Status loadOptimizer(const NamedTensors& state) override
    {
        NamedTensors own = state;
        const NamedTensors scale = takeOut(own, kLossScale);
        if (scale_ && scale.size() == 1 && scale.front().second.numel() == 1)
            scale_->set(scale.front().second.item<double>());
        return optimizer_->loadState(own);
    }

    Result<Merged> merge(const NamedTensors& base, const std::vector<MergeMember>& members, MergeMethod method,
        const NamedTensors& momentum, double outerLr, double outerMomentum) const override
    {
        if (method != MergeMethod::DiLoCo)
            return mergeAverage(members);
        // The outer step is one of the weights; their moving average is averaged.
        NamedTensors ownBase = base;
        takeOut(ownBase, kAveragePrefix);
        std::vector<MergeMember> own;
        std::vector<MergeMember> averaged;
        for (const auto& member : members) {
            own.push_back(member);
            averaged.push_back({ member.name, takeOut(own.back().weights, kAveragePrefix), member.tokens });
        }
        auto merged = mergeDiloco(ownBase, own, momentum, outerLr, outerMomentum);
        if (!merged.ok() || averaged.front().weights.empty())
            return merged;
        FURROW_TRY_ASSIGN(auto mean, mergeAverage(averaged));
        auto& all = merged.value().weights;
        all.insert(all.end(), mean.weights.begin(), mean.weights.end());
        return merged;
    }

    Model* model() override { return model_.get(); }
    std::string name() const override { return "model"; }
    std::string backendName() const override { return model_->backendName(); }
    c10::Device device() const override { return model_->options().device; }

private:
    double lossScale() const { return scale_ ? scale_->value() : 1.0; }

    void startAverage()
    {
        if (emaDecay_ > 0)
            average_.emplace(model_->parameters(), emaDecay_);
    }

    std::unique_ptr<Model> model_;
    std::unique_ptr<Optimizer> optimizer_;
    MicroStep microStep_;
    double emaDecay_;
    std::optional<WeightAverage> average_;
    std::optional<LossScale> scale_;
};

} // namespace

Model::ClippedPass Learner::accumulateClipped(const Batch& batch, double scale, double)
{
    const at::Tensor losses_BT = accumulate(batch, scale);
    return { losses_BT, torch::zeros({ losses_BT.size(0) }) };
}

Model::PairPass Learner::accumulatePairs(const Batch& batch, const PreferenceRule&, double scale)
{
    return { accumulate(batch, scale), torch::zeros({ batch.learnt }) };
}

void Learner::addNoise(double, std::uint64_t) { }

Result<std::unique_ptr<Learner>> createModelLearner(const ModelConfig& config, const ModelOptions& options,
    const OptimizerConfig& optimizer, const LearnerOptions& more)
{
    FURROW_TRY_ASSIGN(auto model, createModel(config, options));
    return std::unique_ptr<Learner>(std::make_unique<ModelLearner>(std::move(model), optimizer, more));
}

} // namespace furrow
