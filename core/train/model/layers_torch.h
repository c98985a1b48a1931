#pragma once

#include "core/model/step_path.h"
#include "core/train/model/model_torch.h"

#include <functional>

namespace furrow {

// Building blocks of the libtorch path, shared by the GPT family and HRM. N rows, D width, V vocabulary.

at::ScalarType scalarType(Precision precision);

/// y = x W^T + b in the compute type; weight and bias are float32 parameters, bias may be undefined.
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight_OI, const at::Tensor& bias_O, Precision precision);

/// x / rms(x) * gain in float32; an undefined gain is 1.
at::Tensor rmsNorm(const at::Tensor& x, const at::Tensor& gain_D, double epsilon);

/// Rotary positions by halves: (x1, x2) -> (x1 cos - x2 sin, x2 cos + x1 sin).
class RotaryTable {
public:
    RotaryTable() = default;
    /// Angles position * theta^(-2i/d) for positions 0..length-1, float32.
    RotaryTable(std::int64_t length, std::int64_t headWidth, double theta, c10::Device device);
    /// @param x_BnTd  rotated in float32, returned in its own type
    /// @param start   position of the first token
    at::Tensor rotate(const at::Tensor& x_BnTd, std::int64_t start) const;

private:
    at::Tensor cos_Td_;
    at::Tensor sin_Td_;
};

/// Next-token cross entropy of x W^T without ever holding all logits: rows go through in pieces, and the gradients
/// are made in the same pass.
/// @param parts  kCpuLogits or kGpuLogits
/// @param gradientScale  factor of the gradients; the caller must start backward with gradient one on the sum of what
/// is returned
/// @return loss of each row, float32 (N), 0 where masked
at::Tensor fusedLinearCrossEntropy(const at::Tensor& x_ND, const at::Tensor& weight_VD, const at::Tensor& labels_N,
    Precision precision, double gradientScale, const LogitParts& parts);

/// Runs `block` without keeping its activations; backward runs it once more (with the same dropout masks). `block`
/// itself must live until backward is done.
at::Tensor recomputed(const std::function<at::Tensor(const at::Tensor&)>& block, const at::Tensor& x);

/// Fills with N(0, deviation) from a generator on the CPU, so that every device starts from the same numbers.
void fillNormal(const at::Tensor& parameter, double deviation, at::Generator& generator);
/// Normal cut at two deviations, rescaled so that the real deviation is `deviation`.
void fillTruncatedNormal(const at::Tensor& parameter, double deviation, at::Generator& generator);

} // namespace furrow
