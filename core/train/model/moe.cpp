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
        const at::Tensor hidden_NF = activated(at::linear(input[expert], up_UD[expert]), config);
        output.push_back(at::linear(hidden_NF, down_DF[expert]));
    }
    return at::cat(output).to(at::kFloat);
}

/// What each token gets from the expert that all visit, by its own gate.
at::Tensor sharedExpert(
    const at::Tensor& x_ND, const ExpertWeights& weights, const ModelConfig& config, Precision precision)
{
    const at::Tensor hidden = activated(linear(x_ND, weights.sharedUp_UD, {}, precision), config);
    const at::Tensor gate_N1 = at::sigmoid(at::linear(x_ND.to(at::kFloat), weights.sharedRouter_1D));
    return gate_N1 * linear(hidden, weights.sharedDown_DF, {}, precision).to(at::kFloat);
}

} // namespace

at::Tensor mixtureOfExperts(const at::Tensor& x_BTD, const ExpertWeights& weights, const ModelConfig& config,
    Precision precision, RouterUse* use)
{
    const std::int64_t experts = config.moeExperts;
    const std::int64_t active = config.moeActive;
    const at::Tensor x_ND = x_BTD.reshape({ -1, x_BTD.size(-1) });

    const at::Tensor probabilities_NE = at::softmax(at::linear(x_ND.to(at::kFloat), weights.router_ED), -1);
    const auto [gates_NA, chosen_NA] = probabilities_NE.topk(active, -1);
    const at::Tensor shares_NA = config.moeShares ? gates_NA / gates_NA.sum(-1, true) : gates_NA;

    const at::Tensor chosen = chosen_NA.reshape({ -1 }); // a token's choices side by side
    const at::Tensor order = chosen.argsort(true, -1, false); // stable: the same sums each time
    const at::Tensor counts
        = at::bincount(chosen, {}, experts).to(at::kCPU); // sync: the sizes of the products, once a layer
    const auto* first = counts.const_data_ptr<std::int64_t>();
    const at::Tensor output = visitExperts(
        x_ND.index_select(0, order.floor_divide(active)), { first, first + experts }, weights, config, precision);
    const at::Tensor back_NAD = output.index_select(0, order.argsort()).view({ -1, active, x_ND.size(1) });
    at::Tensor mixed_ND = (back_NAD * shares_NA.unsqueeze(-1)).sum(1);
    if (weights.sharedUp_UD.defined())
        mixed_ND = mixed_ND + sharedExpert(x_ND, weights, config, precision);
    if (use)
        *use = { at::one_hot(chosen_NA, experts).to(at::kFloat).sum(1).mean(0) / static_cast<double>(active),
            probabilities_NE.mean(0) };
    return mixed_ND.view(x_BTD.sizes());
}

at::Tensor balanceLoss(const std::vector<RouterUse>& uses, const ModelConfig& config)
{
    const auto experts = static_cast<double>(config.moeExperts);
    if (config.routerLoss == RouterLoss::Pooled) {
        std::vector<at::Tensor> visits, probabilities;
        for (const RouterUse& use : uses) {
            visits.push_back(use.visits_E);
            probabilities.push_back(use.probabilities_E);
        }
        return (at::stack(visits).mean(0) * at::stack(probabilities).mean(0)).sum()
            * (experts * static_cast<double>(config.moeActive));
    }
    at::Tensor sum;
    for (const RouterUse& use : uses) {
        const at::Tensor one = (use.visits_E * use.probabilities_E).sum() * experts;
        sum = sum.defined() ? sum + one : one;
    }
    return sum;
}

} // namespace furrow
