#include "core/train/model/gpt_torch.h"

#include <torch/torch.h>

#include <cmath>

// Letters: N tokens, E experts, A active experts of a token, C capacity of an expert, D width, F feed-forward width.
// Every shape is known on the host, so nothing here waits for a GPU.

namespace furrow {

at::Tensor mixtureOfExperts(const at::Tensor& x_BTD, const ExpertWeights& weights, const ModelConfig& config,
    Precision precision, at::Tensor* balanceLoss)
{
    const std::int64_t experts = config.moeExperts;
    const std::int64_t active = config.moeActive;
    const std::int64_t width = x_BTD.size(-1);
    const at::Tensor x_ND = x_BTD.reshape({ -1, width });
    const std::int64_t tokens = x_ND.size(0);
    const auto even = static_cast<double>(tokens * active) / static_cast<double>(experts);
    const std::int64_t capacity = std::min(tokens, static_cast<std::int64_t>(std::ceil(even * config.moeCapacity)));

    const at::Tensor probabilities_NE = at::softmax(at::linear(x_ND.to(at::kFloat), weights.router_ED), -1);
    const auto [gates_NA, chosen_NA] = probabilities_NE.topk(active, -1);
    const at::Tensor shares_NA = gates_NA / gates_NA.sum(-1, true);

    // Place of each (token, choice) in its expert's queue; first choices of all tokens come before second ones.
    const at::Tensor queue = chosen_NA.t().reshape({ -1 });
    const at::Tensor oneHot = at::one_hot(queue, experts);
    const at::Tensor place = (oneHot.cumsum(0) - 1).gather(1, queue.unsqueeze(1)).squeeze(1);
    const at::Tensor fits = place.lt(capacity);
    const at::Tensor slot = at::where(fits, queue * capacity + place, at::full_like(place, experts * capacity));

    const at::Tensor source = x_ND.repeat({ active, 1 });
    const at::Tensor filled = at::zeros({ experts * capacity + 1, width }, x_ND.options()).index_copy(0, slot, source);
    const at::Tensor input_ECD = filled.narrow(0, 0, experts * capacity).view({ experts, capacity, width });

    const at::ScalarType type = scalarType(precision);
    const at::Tensor up = at::bmm(input_ECD.to(type), weights.up_EUD.to(type).transpose(1, 2));
    at::Tensor hidden;
    if (config.activation == "swiglu") {
        const auto halves = up.chunk(2, -1);
        hidden = at::silu(halves[0]) * halves[1];
    } else {
        hidden = at::gelu(up, "tanh");
    }
    const at::Tensor output = at::bmm(hidden, weights.down_EDF.to(type).transpose(1, 2)).to(at::kFloat).view({ -1, width });

    const at::Tensor safeSlot = slot.clamp_max(experts * capacity - 1);
    const at::Tensor share = (shares_NA.t().reshape({ -1 }) * fits.to(at::kFloat)).unsqueeze(1);
    const at::Tensor mixed_ND = (output.index_select(0, safeSlot) * share).view({ active, tokens, width }).sum(0);

    if (balanceLoss) {
        const at::Tensor routed = at::one_hot(chosen_NA, experts).to(at::kFloat).sum(1).mean(0) / static_cast<double>(active);
        *balanceLoss = (routed * probabilities_NE.mean(0)).sum() * static_cast<double>(experts);
    }
    return mixed_ND.view(x_BTD.sizes());
}

} // namespace furrow
