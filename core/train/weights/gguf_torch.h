#pragma once

#include "core/train/weights/huggingface_torch.h"

#include <filesystem>

namespace furrow {

/// Reads a GGUF: its metadata as the config.json that they stand for, its tensors as float32. Corrupt names the tensor
/// that is missing, unknown or of another shape.
Result<HuggingFaceModel> importGguf(const std::filesystem::path& path);

} // namespace furrow
