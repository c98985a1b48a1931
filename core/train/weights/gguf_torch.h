#pragma once

#include "core/model/gguf/gguf_file.h"
#include "core/train/weights/huggingface_torch.h"

#include <filesystem>
#include <string>

namespace furrow {

/// Reads a GGUF: its metadata as the config.json that they stand for, its tensors as float32. Corrupt names the tensor
/// that is missing, unknown or of another shape.
Result<HuggingFaceModel> importGguf(const std::filesystem::path& path);

struct GgufChoice {
    GgufType type = GgufType::F16; ///< of the matrices; isWritable()
    std::string name; ///< of the model, for people
};
/// Writes a model as one file for llama.cpp: weights, metadata, tokenizer and chat template. A name that is taken is
/// refused. InvalidArgument too: llama.cpp has nothing for this model or tokenizer, or a number does not fit the type.
/// Vectors, norms and routers stay float32; with four bits the embedding and the head have eight; rows that are no
/// whole blocks become float16.
/// @param extras  as for exportHuggingFace: what the model came with, or tokens and files of a tokenizer
Status exportGguf(const Model& model, const HuggingFaceExtras& extras, const GgufChoice& choice, FileSystem& files,
    const std::filesystem::path& path);

} // namespace furrow
