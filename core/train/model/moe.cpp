#include "core/train/model/gpt_torch.h"

#include <torch/torch.h>

// Letters: N tokens, E experts, A active experts of a token, D width, F feed-forward width, U outputs of the first
// product. Every token visits all the experts that it chose, however many others chose them: what it gets depends on
// nothing but itself.

namespace furrow {

namespace {

/// Tokens that chose an expert, one product each. @param visits_ND  those of expert 0 first, then those of expert 1 ...
at::Tensor visitExperts(const at::Tensor& visits_ND, const std::vector<std::int64_t>& visitors,
    const ExpertWeights& weights, const ModelConfig& config, Precision precision)
{
    const at::ScalarType type = scalarType(precision);
    const auto input = visits_ND.to(type).split_with_sizes(visitors);
    const auto up_UD = weights.up_EUD.to(type).unbind();
    const auto down_DF = weights.down_EDF.to(type).unbind();
    std::vector<at::Tensor> output;
    for (std::size_t expert = 0; expert < visitors.size(); ++expert) {
        const at::Tensor up_NU = at::linear(input[expert], up_UD[expert]);
        at::Tensor hidden_NF;
        if (config.activation == "swiglu") {
            const auto halves = up_NU.chunk(2, -1);
            hidden_NF = at::silu(halves[0]) * halves[1];
        } else {
            hidden_NF = at::gelu(up_NU, "tanh");
        }
        output.push_back(at::linear(hidden_NF, down_DF[expert]));
    }
    return at::cat(output).to(at::kFloat);
}

} // namespace

at::Tensor mixtureOfExperts(const at::Tensor& x_BTD, const ExpertWeights& weights, const ModelConfig& config,
    Precision precision, at::Tensor* balanceLoss)
{
    const std::int64_t experts = config.moeExperts;
    const std::int64_t active = config.moeActive;
    const at::Tensor x_ND = x_BTD.reshape({ -1, x_BTD.size(-1) });

    const at::Tensor probabilities_NE = at::softmax(at::linear(x_ND.to(at::kFloat), weights.router_ED), -1);
    const auto [gates_NA, chosen_NA] = probabilities_NE.topk(active, -1);
    const at::Tensor shares_NA = gates_NA / gates_NA.sum(-1, true);

    const at::Tensor chosen = chosen_NA.reshape({ -1 }); // a token's choices side by side
    const at::Tensor order = chosen.argsort(true, -1, false); // stable: the same sums each time
    const at::Tensor counts
        = at::bincount(chosen, {}, experts).to(at::kCPU); // sync: the sizes of the products, once a layer
    const auto* first = counts.const_data_ptr<std::int64_t>();
    const at::Tensor output = visitExperts(
        x_ND.index_select(0, order.floor_divide(active)), { first, first + experts }, weights, config, precision);
    const at::Tensor back_NAD = output.index_select(0, order.argsort()).view({ -1, active, x_ND.size(1) });
    const at::Tensor mixed_ND = (back_NAD * shares_NA.unsqueeze(-1)).sum(1);

    if (balanceLoss) {
        const at::Tensor routed
            = at::one_hot(chosen_NA, experts).to(at::kFloat).sum(1).mean(0) / static_cast<double>(active);
        *balanceLoss = (routed * probabilities_NE.mean(0)).sum() * static_cast<double>(experts);
    }
    return mixed_ND.view(x_BTD.sizes());
}

} // namespace furrow
