#include "core/train/model/preference_torch.h"

#include <ATen/ATen.h>

namespace furrow {

PairLosses pairLosses(
    const at::Tensor& model_S, const at::Tensor& reference_S, const at::Tensor& tokens_S, const PreferenceRule& rule)
{
    const bool isByLength = rule.normalise == DpoNormalise::Length;
    const at::Tensor gains_P2 = (model_S - reference_S).view({ -1, 2 });
    const at::Tensor lengths_P2 = isByLength ? tokens_S.clamp_min(1).view({ -1, 2 }) : at::ones_like(gains_P2);
    const at::Tensor scores_P2 = gains_P2 / lengths_P2;
    const at::Tensor difference_P = (scores_P2.select(1, 0) - scores_P2.select(1, 1)) * rule.beta;
    const at::Tensor slope_P1 = (at::sigmoid(-difference_P) * -rule.beta).unsqueeze(1);
    return { -at::log_sigmoid(difference_P), (gains_P2.select(1, 0) - gains_P2.select(1, 1)) * rule.beta,
        (at::cat({ slope_P1, -slope_P1 }, 1) / lengths_P2).view({ -1 }) };
}

at::Tensor sumsOfAnswers(const at::Tensor& values_N, const at::Tensor& answers_N, std::int64_t answers)
{
    // What belongs to none goes behind the others.
    const at::Tensor places_N = answers_N.masked_fill(answers_N.lt(0), answers);
    return at::zeros({ answers + 1 }, values_N.options()).index_add(0, places_N, values_N).narrow(0, 0, answers);
}

} // namespace furrow
