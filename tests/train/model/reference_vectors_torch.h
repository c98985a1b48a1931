#pragma once

#include "core/train/model/model_torch.h"

#include <nlohmann/json.hpp>

namespace furrow::test {

/// The integer formula of tests/oracle/reference_common.py, so that both sides have the same weights and tokens.
double pattern(std::int64_t index, std::int64_t salt);
/// As fill_pattern of the oracle does for a tensor of that name.
void fillTensor(const std::string& name, const at::Tensor& tensor);
void fillPattern(Model& model);

struct Batch {
    at::Tensor inputs_BT;
    at::Tensor labels_BT;
};
Batch patternBatch(
    std::int64_t step, std::int64_t micro, const ModelConfig& config, std::int64_t batch, std::int64_t masked);

/// Worst relative difference between a tensor and a digest of the oracle.
double digestError(const at::Tensor& tensor, const nlohmann::json& digest);
/// |a - b| / max(|b|, 1e-3)
double relativeError(double a, double b);

/// The file named by the environment variable FURROW_VECTORS (written by the oracle just now), or the committed one.
nlohmann::json readVectors(const std::string& committedName);

ModelConfig configFrom(const nlohmann::json& model);

} // namespace furrow::test
