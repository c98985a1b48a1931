#pragma once

#include "core/base/result.h"
#include "core/model/model_config.h"
#include "core/train/model/parameters_torch.h"

#include <string>

namespace furrow {

/// Weights that a run starts from, by our names: a checkpoint folder of ours (weights.safetensors with the frozen
/// weights that its manifest names, its moving average left aside), a Hugging Face folder (config.json with
/// model.safetensors), or the weight file in one, or a GGUF. A model of another program and shape is refused with every
/// part that differs. Learned positions are cut where the training window of `config` ends.
Result<NamedTensors> startWeights(const std::string& folder, const ModelConfig& config);

} // namespace furrow
