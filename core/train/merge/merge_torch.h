#pragma once

#include "core/base/result.h"
#include "core/train/model/parameters_torch.h"

#include <string>
#include <vector>

namespace furrow {

/// A replica on its way into a merge. All members grew from the same base.
struct MergeMember {
    std::string name; ///< for messages: the checkpoint's folder name
    NamedTensors weights; ///< on the CPU
    std::int64_t tokens = 0; ///< trained since the base: its weight
};

struct Merged {
    NamedTensors weights;
    NamedTensors momentum; ///< DiLoCo's outer momentum; empty for the others
    std::vector<std::string> warnings; ///< members whose way from the base is more than five times the median
};

/// sum(tokens_m * theta_m) / sum(tokens), float64 inside, float32 out; integer tensors are copied from the first
/// member. Without any tokens: the plain mean. Refuses NaN and Inf, different names or shapes, by member and tensor.
Result<Merged> mergeAverage(const std::vector<MergeMember>& members);

/// Outer Nesterov step on the weighted mean of the differences from the base: v = mu v + D, theta = base - eta (D + mu
/// v). eta 1, mu 0 is mergeAverage. Source: Douillard et al. 2023 (arXiv:2311.08105), algorithm 1.
/// @param momentum  v of the round before; empty: zero
Result<Merged> mergeDiloco(const NamedTensors& base, const std::vector<MergeMember>& members,
    const NamedTensors& momentum, double outerLr, double outerMomentum);

/// Counts of the counting model: base + sum(member - base). Tensors "ids" (n,k) and "counts" (n), see
/// counting_learner.cpp.
Result<Merged> mergeCounts(const NamedTensors& base, const std::vector<MergeMember>& members);
/// DiLoCo's outer momentum of the counting model. Its outer step has rate 1 on the sum of the ways and no look-ahead,
/// so that counts stay counts; the momentum forgets nothing: it is the sum of all outer steps since the line was last
/// merged in another way.
/// @param momentum  of the base; empty: zero
NamedTensors outerMomentumOfCounts(const NamedTensors& base, const NamedTensors& merged, const NamedTensors& momentum);

/// Null when there is no tensor of that name.
const at::Tensor* findTensor(const NamedTensors& tensors, const std::string& name);

/// Norm of the way from base to member over all tensors, root of summed squares.
double driftNorm(const NamedTensors& base, const NamedTensors& weights);
/// Norm over all floating-point tensors, root of summed squares.
double weightNorm(const NamedTensors& weights);

} // namespace furrow
