#include "core/train/loop/learner_torch.h"

#include <torch/torch.h>

namespace furrow {

namespace {

class ModelLearner : public Learner {
public:
    ModelLearner(std::unique_ptr<Model> model, const OptimizerConfig& optimizer)
        : model_(std::move(model))
        , optimizer_(createOptimizer(model_->parameters(), optimizer))
    {
    }

    at::Tensor accumulate(const Batch& batch, double gradientScale) override
    {
        return model_->forwardBackward(batch.inputs_BT, batch.labels_BT, gradientScale);
    }

    at::Tensor apply(double learningRate, double clipNorm) override
    {
        auto norm = optimizer_->step(learningRate, clipNorm);
        model_->parameters().zeroGradients();
        model_->weightsChanged();
        return norm;
    }

    void discard() override { model_->parameters().zeroGradients(); }
    NamedTensors weights() const override { return modelState(*model_); }
    NamedTensors optimizerState() const override { return optimizer_->state(); }

    Status loadWeights(const NamedTensors& weights) override
    {
        auto loaded = loadModelState(*model_, weights);
        model_->weightsChanged();
        return loaded;
    }

    Status loadOptimizer(const NamedTensors& state) override { return optimizer_->loadState(state); }

    Result<Merged> merge(const NamedTensors& base, const std::vector<MergeMember>& members, const std::string& method, const NamedTensors& momentum, double outerLr,
        double outerMomentum) const override
    {
        if (method == "diloco")
            return mergeDiloco(base, members, momentum, outerLr, outerMomentum);
        return mergeAverage(members);
    }

    Model* model() override { return model_.get(); }
    std::string name() const override { return "model"; }
    std::string backendName() const override { return model_->backendName(); }
    c10::Device device() const override { return model_->options().device; }

private:
    std::unique_ptr<Model> model_;
    std::unique_ptr<Optimizer> optimizer_;
};

} // namespace

Result<std::unique_ptr<Learner>> createModelLearner(const ModelConfig& config, const ModelOptions& options, const OptimizerConfig& optimizer)
{
    auto model = createModel(config, options);
    if (!model.ok())
        return model.error();
    return std::unique_ptr<Learner>(std::make_unique<ModelLearner>(std::move(model).value(), optimizer));
}

} // namespace furrow
