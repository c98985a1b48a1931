// What LoRA changes in a GPT: pairs of small matrices beside frozen weights, and what can be compared with those.

#include "core/base/check.h"
#include "core/train/model/for_this_pass.h"
#include "core/train/model/gpt_torch.h"

#include <torch/torch.h>

namespace furrow {

std::vector<ParameterShape> loraParameters(const ModelConfig& config)
{
    std::vector<ParameterShape> shapes;
    for (const ParameterShape& full : gptParameters(config)) {
        if (!full.name.starts_with("blocks.") || full.shape.size() != 2)
            continue;
        const std::string layer = "lora." + full.name.substr(0, full.name.rfind('.'));
        shapes.push_back({ layer + ".a", { config.loraRank, full.shape[1] }, true });
        shapes.push_back({ layer + ".b", { full.shape[0], config.loraRank }, true });
    }
    return shapes;
}

bool isLoraPair(const std::string& name) { return name.starts_with("lora."); }

/// A weight by its full name, whether it is trained or not.
at::Tensor GptModel::find(const std::string& name) const
{
    for (const NamedTensors* all : { &buffers_, &parameters_.tensors() })
        for (const auto& [own, found] : *all)
            if (own == name)
                return found;
    return {};
}

at::Tensor GptModel::tensor(const std::string& name) const
{
    at::Tensor found = find(name);
    FURROW_CHECK(found.defined(), "a weight was asked for that the model does not have");
    return found;
}

/// x W^T + b, and with LoRA + scale (x A^T) B^T.
at::Tensor GptModel::dense(const at::Tensor& x, const Weights& weights) const
{
    const at::Tensor y = product(x, weights.weight, weights.bias);
    if (!weights.loraA_RI.defined() || isReference_)
        return y;
    return y + product(product(x, weights.loraA_RI, {}), weights.loraB_OR, {}) * config_.loraScale();
}

at::Tensor GptModel::referenceLosses(const at::Tensor& inputs_BT, const at::Tensor& labels_N)
{
    const at::NoGradGuard guard;
    const ForThisPass without(isReference_, true);
    return fusedLinearCrossEntropy(
        hidden(inputs_BT, nullptr).view({ -1, config_.width }), head_, labels_N, options_.precision, headLoss(1));
}

namespace {

struct Compared {
    Model::PairPass pass;
    at::Tensor slopes_N; ///< derivative of the sum of the losses by the loss of each label
};

/// @param losses_N, reference_N  of each label, in nats: a log-probability is what is missing to them
Compared compare(
    const at::Tensor& losses_N, const at::Tensor& reference_N, const Model::PairRows& rows, const PreferenceRule& rule)
{
    const std::int64_t answers = 2 * rows.pairs;
    const at::Tensor answers_N = rows.answers_BT.reshape({ -1 });
    const at::Tensor isAnswer_N = answers_N.ge(0);
    const at::Tensor tokens_S = sumsOfAnswers(isAnswer_N.to(at::kFloat), answers_N, answers);
    const auto found = pairLosses(
        -sumsOfAnswers(losses_N, answers_N, answers), -sumsOfAnswers(reference_N, answers_N, answers), tokens_S, rule);
    const at::Tensor own_N = answers_N.clamp_min(0);
    const auto ofLabels = [&](const at::Tensor& values_S) {
        return values_S.index_select(0, own_N).masked_fill(isAnswer_N.logical_not(), 0);
    };
    const at::Tensor share_P = found.losses_P / tokens_S.view({ -1, 2 }).sum(1).clamp_min(1);
    return { { ofLabels(share_P.repeat_interleave(2)).view(rows.answers_BT.sizes()), found.margins_P },
        -ofLabels(found.slopes_S) };
}

} // namespace

Model::PairPass GptModel::pairBackward(const PairRows& rows, const PreferenceRule& rule, double gradientScale)
{
    const ForThisPass documents(documents_, documentsOf(rows.places_BT));
    const at::Tensor labels_N = rows.labels_BT.reshape({ -1 }).to(at::kLong);
    const at::Tensor reference_N = referenceLosses(rows.inputs_BT, labels_N);
    const ForThisPass mode(training_, true);
    const at::Tensor x_ND = hidden(rows.inputs_BT, nullptr).view({ -1, config_.width });
    // The head is frozen, so a label's loss has a gradient by its own row of x alone: it is made in the one pass over
    // the logits, before it is known how much the label counts.
    const at::Tensor own_ND = x_ND.detach().set_requires_grad(true);
    const at::Tensor losses_N
        = fusedLinearCrossEntropy(own_ND, head_, labels_N, options_.precision, headLoss(gradientScale));
    torch::autograd::backward({ losses_N.sum() }, {});
    const at::NoGradGuard guard;
    const Compared found = compare(losses_N.detach(), reference_N, rows, rule);
    torch::autograd::backward({ x_ND }, { own_ND.grad() * found.slopes_N.unsqueeze(1) });
    return found.pass;
}

Model::PairPass GptModel::pairPass(const PairRows& rows, const PreferenceRule& rule)
{
    const at::NoGradGuard guard;
    const ForThisPass documents(documents_, documentsOf(rows.places_BT));
    const at::Tensor labels_N = rows.labels_BT.reshape({ -1 }).to(at::kLong);
    const at::Tensor losses_N = fusedLinearCrossEntropy(
        hidden(rows.inputs_BT, nullptr).view({ -1, config_.width }), head_, labels_N, options_.precision, headLoss(1));
    return compare(losses_N, referenceLosses(rows.inputs_BT, labels_N), rows, rule).pass;
}

NamedTensors GptModel::fullState() const
{
    const at::NoGradGuard guard;
    NamedTensors state;
    for (const auto& [name, own] : modelState(*this)) {
        if (isLoraPair(name) || name == kUntrainedPositions)
            continue;
        const std::string layer = "lora." + name.substr(0, name.rfind('.'));
        at::Tensor whole = own;
        if (config_.loraRank > 0 && name.starts_with("blocks.") && own.dim() == 2)
            whole = own + at::mm(parameters_.at(layer + ".b"), parameters_.at(layer + ".a")) * config_.loraScale();
        if (name == "positions.weight" && untrainedPositions_.defined())
            whole = at::cat({ own.detach(), untrainedPositions_ });
        state.emplace_back(name, whole);
    }
    return state;
}

} // namespace furrow
