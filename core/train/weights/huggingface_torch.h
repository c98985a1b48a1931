#pragma once

#include "core/base/file_system.h"
#include "core/model/huggingface_config.h"
#include "core/train/model/model_torch.h"

#include <filesystem>
#include <map>

namespace furrow {

/// What an export holds besides the weights.
struct HuggingFaceExtras {
    SpecialTokens tokens; ///< where there is no config.json to pass on
    /// Name to text, e.g. tokenizer.json. A config.json among them is what the model came with: it is passed on, and
    /// InvalidArgument is said where it is of another model.
    std::map<std::string, std::string> files;
};

/// The config.json of an export and what it means: what the model came with, or one of the layouts of
/// huggingFaceConfigText. InvalidArgument: it is of another model, or there is none.
Result<HuggingFaceText> exportedConfig(const ModelConfig& model, const HuggingFaceExtras& extras);

/// Writes model.safetensors in float32, config.json, generation_config.json and the extra files into a folder, which is
/// created. transformers loads it as it is.
Status exportHuggingFace(
    const Model& model, const HuggingFaceExtras& extras, FileSystem& files, const std::filesystem::path& folder);

struct HuggingFaceModel {
    HuggingFaceConfig layout;
    NamedTensors state; ///< float32, our names: for loadModelState of a model whose window is its context
};
/// Reads a downloaded folder: config.json and model.safetensors, or the parts listed in model.safetensors.index.json.
/// Corrupt names the tensor that is missing, unknown or of another shape.
Result<HuggingFaceModel> importHuggingFace(const std::filesystem::path& folder);

/// The family's own names and shapes for our parameters, and back, in a Hugging Face folder or a GGUF. Fused tensors
/// are joined and split, GPT-2's matrices transposed.
NamedTensors toHuggingFace(const HuggingFaceConfig& layout, const NamedTensors& state);
Result<NamedTensors> fromHuggingFace(const HuggingFaceConfig& layout, NamedTensors saved);

} // namespace furrow
