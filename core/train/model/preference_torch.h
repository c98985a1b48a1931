#pragma once

#include "core/config/choices.h"

#include <ATen/core/Tensor.h>

namespace furrow {

// Shapes: S answers (2 p is the chosen one of pair p, 2 p + 1 the rejected one), P pairs.

/// Direct preference optimisation (arXiv:2305.18290, eq. 7): of a pair -log sigmoid(beta (c - r)), c and r by how much
/// the model finds an answer likelier than the reference does, in nats of the whole answer.
struct PreferenceRule {
    double beta = 0.1;
    /// Length: c and r are divided by the tokens of their answer, as in Tulu 3 (arXiv:2411.15124); loss_type
    /// sigmoid_norm of trl, where None is sigmoid.
    DpoNormalise normalise = DpoNormalise::None;
};

struct PairLosses {
    at::Tensor losses_P; ///< nats
    at::Tensor margins_P; ///< beta times what the chosen answer gained on the reference less what the other did; of
                          ///< whole answers with either rule, as trl tells rewards/margins
    at::Tensor slopes_S; ///< derivative of the sum of the losses by the log-probability of each answer
};
/// @param model_S, reference_S  log-probability of each answer, float32
/// @param tokens_S  of each answer, float32
PairLosses pairLosses(
    const at::Tensor& model_S, const at::Tensor& reference_S, const at::Tensor& tokens_S, const PreferenceRule& rule);

/// Sums of what stands at the labels of each answer.
/// @param answers_N  int64, as ChunkWindows::answers(); -1 belongs to none
at::Tensor sumsOfAnswers(const at::Tensor& values_N, const at::Tensor& answers_N, std::int64_t answers);

} // namespace furrow
