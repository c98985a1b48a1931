#pragma once

#include "core/base/file_system.h"
#include "core/train/model/model_torch.h"
#include "core/train/weights/huggingface_config.h"

#include <filesystem>
#include <map>

namespace furrow {

/// What an export holds besides the weights.
struct HuggingFaceExtras {
    SpecialTokens tokens;
    std::map<std::string, std::string> files; ///< name to text, e.g. tokenizer.json, tokenizer_config.json
};

/// Writes model.safetensors, config.json, generation_config.json and the extra files into a folder, which is created.
/// transformers loads it as it is.
Status exportHuggingFace(
    const Model& model, const HuggingFaceExtras& extras, FileSystem& files, const std::filesystem::path& folder);

struct HuggingFaceModel {
    ModelConfig config;
    NamedTensors state; ///< float32, our names: for loadModelState
};
/// Reads a downloaded folder: config.json and model.safetensors, or the parts listed in model.safetensors.index.json.
/// Corrupt names the tensor that is missing, unknown or of another shape.
Result<HuggingFaceModel> importHuggingFace(const std::filesystem::path& folder);

/// The layout's own names and shapes for our parameters (GPT-2's matrices are transposed), and back.
NamedTensors toHuggingFace(const ModelConfig& config, HuggingFaceLayout layout, const NamedTensors& state);
Result<NamedTensors> fromHuggingFace(const ModelConfig& config, HuggingFaceLayout layout, const NamedTensors& saved);

} // namespace furrow
