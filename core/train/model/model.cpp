#include "core/train/model/fast_gpt_torch.h"
#include "core/base/check.h"
#include "core/base/sentence.h"
#include "core/train/model/gpt_torch.h"
#include "core/train/model/hrm_torch.h"
#include "core/train/model/model_torch.h"

#include <torch/torch.h>

#include <unordered_map>

namespace furrow {

namespace {

Error invalid(const Message& message) { return { ErrorCode::InvalidArgument, message }; }

std::string shapeText(at::IntArrayRef shape)
{
    std::string text = "[";
    for (std::size_t i = 0; i < shape.size(); ++i)
        text += (i ? ", " : "") + std::to_string(shape[i]);
    return text + "]";
}

/// What a saved tensor would replace; an error names what is wrong with it.
Status checkReplacement(const std::string& name, const at::Tensor& ours, const at::Tensor& saved)
{
    if (saved.sizes() != ours.sizes())
        return Error { ErrorCode::Corrupt,
            sentence("tensor '%1' has shape %2; the model needs %3",
                { name, shapeText(saved.sizes()), shapeText(ours.sizes()) }) };
    if (!saved.is_floating_point())
        return Error { ErrorCode::Corrupt, sentence("tensor '%1' holds no floating-point numbers", { name }) };
    if (!at::isfinite(saved.to(at::kFloat)).all().item<bool>())
        return Error { ErrorCode::Corrupt,
            sentence("tensor '%1' holds NaN or Inf; the weights were not loaded", { name }) };
    return {};
}

} // namespace

std::string toString(Precision precision)
{
    switch (precision) {
    case Precision::BFloat16: return "bf16";
    case Precision::Float16: return "fp16";
    case Precision::Float32: break;
    }
    return "fp32";
}

Result<Precision> precisionFor(PrecisionChoice choice, c10::Device device)
{
    switch (choice) {
    case PrecisionChoice::Auto: return device.is_cuda() ? Precision::BFloat16 : Precision::Float32;
    case PrecisionChoice::BFloat16: return Precision::BFloat16;
    case PrecisionChoice::Float16:
        if (!device.is_cuda())
            return invalid(
                sentence("precision is fp16, which needs a GPU; allowed on this device are auto, fp32, bf16"));
        return Precision::Float16;
    case PrecisionChoice::Float32: break;
    }
    return Precision::Float32;
}

void Model::reseed(std::uint64_t seed)
{
    at::Generator generator = at::globalContext().defaultGenerator(options_.device);
    generator.set_current_seed(seed);
}

Model::PairPass Model::pairBackward(const PairRows&, const PreferenceRule&, double)
{
    FURROW_CHECK(false, "a model was asked to compare answers that has no reference");
}

Model::PairPass Model::pairPass(const PairRows&, const PreferenceRule&)
{
    FURROW_CHECK(false, "a model was asked to compare answers that has no reference");
}

Model::ClippedPass Model::clippedBackward(const at::Tensor&, const at::Tensor&, double, double, const at::Tensor&)
{
    FURROW_CHECK(false, "a model was asked to clip by sample that cannot");
}

NamedTensors Model::fullState() const { return modelState(*this); }

std::int64_t countLabels(const at::Tensor& labels_BT)
{
    return labels_BT.ne(kIgnoreLabel).sum().item<std::int64_t>(); // sync: on CUDA; training counts on the host instead
}

Result<std::unique_ptr<Model>> createModel(const ModelConfig& config, const ModelOptions& options)
{
    std::string text;
    for (const ModelProblem& problem : config.validate())
        text += (text.empty() ? "" : "\n") + problem.message;
    if (!text.empty())
        return invalid(text);
    if (options.device.is_cuda() && !at::hasCUDA())
        return invalid(
            sentence("device is %1, but this machine has no usable GPU; choose cpu", { options.device.str() }));
    try {
        if (config.architecture == Architecture::Hrm)
            return std::unique_ptr<Model>(std::make_unique<HrmModel>(config, options));
        if (FastGptModel::fits(config, options))
            return std::unique_ptr<Model>(std::make_unique<FastGptModel>(config, options));
        return std::unique_ptr<Model>(std::make_unique<GptModel>(config, options));
    } catch (const c10::OutOfMemoryError&) {
        return Error { ErrorCode::Internal,
            sentence("weights and gradients of %1 do not fit on %2; lower layers, width or vocabulary",
                { Bytes(static_cast<std::uint64_t>(config.parameterCount()) * 8), options.device.str() }) };
    } catch (const std::exception& error) {
        return Error { ErrorCode::Internal, sentence("creating the model: %1", { error.what() }) };
    }
}

NamedTensors trainedState(const Model& model)
{
    NamedTensors state = modelState(model);
    state.resize(state.size() - model.frozen().size()); // the buffers are the last
    return state;
}

NamedTensors modelState(const Model& model)
{
    NamedTensors state;
    for (const auto& [name, tensor] : model.parameters().tensors())
        state.emplace_back(name, tensor.detach());
    for (const auto& [name, tensor] : model.buffers())
        state.emplace_back(name, tensor);
    return state;
}

Status loadModelState(Model& model, const NamedTensors& state)
{
    std::unordered_map<std::string, at::Tensor> saved(state.begin(), state.end());
    const NamedTensors ours = modelState(model);
    for (const auto& [name, tensor] : ours) {
        const auto found = saved.find(name);
        if (found == saved.end())
            return Error { ErrorCode::Corrupt, sentence("tensor '%1' is missing in the saved weights", { name }) };
        FURROW_TRY(checkReplacement(name, tensor, found->second));
    }
    if (saved.size() > ours.size()) {
        for (const auto& [name, tensor] : ours)
            saved.erase(name);
        return Error { ErrorCode::Corrupt,
            sentence("tensor '%1' is in the saved weights but not in this model", { saved.begin()->first }) };
    }
    const at::NoGradGuard guard;
    for (const auto& [name, tensor] : ours)
        tensor.copy_(saved.at(name));
    model.weightsChanged();
    return {};
}

} // namespace furrow
