#pragma once

#include "core/model/step_path.h"
#include "core/train/model/model_torch.h"

#include <functional>

namespace furrow {

// Building blocks of the libtorch path, shared by the GPT family and HRM. N rows, D width, V vocabulary.

at::ScalarType scalarType(Precision precision);

/// y = x W^T + b in the compute type; weight and bias are float32 parameters, bias may be undefined.
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight_OI, const at::Tensor& bias_O, Precision precision);

/// activation(gate) * up with a gate, which is the first half; else activation(up).
at::Tensor activated(const at::Tensor& up, const ModelConfig& config);

/// x / rms(x) * gain in float32; an undefined gain is 1.
at::Tensor rmsNorm(const at::Tensor& x, const at::Tensor& gain_D, double epsilon);

/// Angles of rotary positions for one step of one pair of numbers, and the amplitude of their cosines and sines.
struct RotaryFrequencies {
    at::Tensor values; ///< float32, rotaryWidth / 2
    double amplitude = 1;
};
/// @param local  of the layers with a sliding window, where they have a base of their own
RotaryFrequencies rotaryFrequencies(const ModelConfig& config, bool local);

/// Rotary positions by halves: (x1, x2) -> (x1 cos - x2 sin, x2 cos + x1 sin), of the first rotaryWidth() numbers of a
/// head. The table grows with the positions that are asked for, so that a long context costs nothing until it is used.
/// Not thread-safe.
class RotaryTable {
public:
    RotaryTable() = default;
    RotaryTable(const ModelConfig& config, bool local, c10::Device device);
    /// @param x_BnTd  rotated in float32, returned in its own type
    /// @param start   position of the first token
    /// @param places_BT  positions, each below `start` + T; undefined: from `start` on, one after the other
    at::Tensor rotate(const at::Tensor& x_BnTd, std::int64_t start, const at::Tensor& places_BT = {}) const;

private:
    void grow(std::int64_t length) const;

    RotaryFrequencies frequencies_;
    c10::Device device_ = c10::Device(c10::kCPU);
    mutable at::Tensor cos_Td_;
    mutable at::Tensor sin_Td_;
};

/// Next-token cross entropy of x W^T without ever holding all logits: rows go through in pieces, and the gradients
/// are made in the same pass.
struct HeadLoss {
    double gradientScale = 1; ///< factor of the gradients; the caller must start backward with gradient one on the sum
                              ///< of the losses
    double cap = 0; ///< logits l become cap tanh(l / cap); 0: as they are
    LogitParts parts = kCpuLogits; ///< kCpuLogits or kGpuLogits
};
/// The loss of logits that are there. @param losses_N  written: float32, 0 where masked
/// @param gradient_NV  written, where it is defined: d(sum of losses)/d(logits) * scale, in its own type
void crossEntropy(const at::Tensor& logits_NV, const at::Tensor& labels_N, const HeadLoss& options,
    const at::Tensor& losses_N, at::Tensor gradient_NV);
/// @return loss of each row, float32 (N), 0 where masked
at::Tensor fusedLinearCrossEntropy(const at::Tensor& x_ND, const at::Tensor& weight_VD, const at::Tensor& labels_N,
    Precision precision, const HeadLoss& options);
/// cap tanh(x / cap); x itself for cap 0.
at::Tensor softCapped(const at::Tensor& x, double cap);

/// Runs `block` without keeping its activations; backward runs it once more (with the same dropout masks). `block`
/// itself must live until backward is done.
at::Tensor recomputed(const std::function<at::Tensor(const at::Tensor&)>& block, const at::Tensor& x);

/// Fills with N(0, deviation) from a generator on the CPU, so that every device starts from the same numbers.
void fillNormal(const at::Tensor& parameter, double deviation, at::Generator& generator);
/// Normal cut at two deviations, rescaled so that the real deviation is `deviation`.
void fillTruncatedNormal(const at::Tensor& parameter, double deviation, at::Generator& generator);

} // namespace furrow
