#pragma once

#include "core/model/gguf/gguf_architecture.h"
#include "core/model/gguf/gguf_file.h"
#include "core/model/huggingface_config.h"

#include <string>
#include <vector>

namespace furrow {

/// What a GGUF says of its model: the config.json that it was made from, and what that means.
struct GgufModel {
    std::string config; ///< text of config.json
    HuggingFaceConfig layout; ///< its family has the names of the tensors in the GGUF
};

/// The tensor by which llama.cpp stretches rotary positions as Llama 3.1 does.
inline constexpr const char* kGgufRopeFactors = "rope_freqs.weight";

/// InvalidArgument names the metadata that stopped it: of another architecture, wrong, or one of the architecture that
/// might change what the model computes and is not known here.
/// @param ropeFactors  numbers of kGgufRopeFactors; empty: there is no such tensor
Result<GgufModel> ggufModelOf(const GgufFile& file, const std::vector<float>& ropeFactors);
/// The same of a file, whose header it hands out; errors name it.
Result<GgufModel> readGgufModel(const std::filesystem::path& path, GgufFile& file);

/// The metadata of a model for llama.cpp, without general and tokenizer, and what else goes into the table of tensors.
struct GgufMetadata {
    const GgufArchitecture* architecture = nullptr;
    nlohmann::json metadata = nlohmann::json::object(); ///< general.architecture included
    std::vector<float> ropeFactors; ///< empty: without
};
/// InvalidArgument: llama.cpp has nothing for this model, or something of it is lost there; the parts are named.
Result<GgufMetadata> ggufMetadataOf(const HuggingFaceConfig& layout);

/// By what Llama 3.1 divides the frequencies of rotary positions, one number for each.
std::vector<float> llamaRopeFactors(const RotaryConfig& rotary, std::int64_t rotaryWidth);

} // namespace furrow
