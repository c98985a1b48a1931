#pragma once

#include "core/model/model_config.h"
#include "core/model/model_family.h"

#include <string>
#include <string_view>

namespace furrow {

struct HuggingFaceConfig {
    ModelConfig config;
    const ModelFamily* family = nullptr;
};
/// Reads a config.json, which may come from anywhere. InvalidArgument names the key that stopped it: of another family,
/// wrong, or one that might change what the model computes and is not known here.
Result<HuggingFaceConfig> parseHuggingFaceConfig(std::string_view text);

/// Tokens that generation needs; -1: none.
struct SpecialTokens {
    std::int64_t begin = -1;
    std::int64_t end = -1;
};

struct HuggingFaceText {
    std::string config; ///< text of config.json
    HuggingFaceConfig meaning; ///< what parseHuggingFaceConfig reads out of it
};
/// Text of a config.json for a model that came from none: in the first of the layouts of GPT-2, Llama and Mixtral that
/// gives this model again when it is read. InvalidArgument: none does. Biases that a GPT has not are zeros there.
Result<HuggingFaceText> huggingFaceConfigText(const ModelConfig& config, const SpecialTokens& tokens);
/// Text of generation_config.json.
std::string huggingFaceGenerationText(const SpecialTokens& tokens);
/// The same config.json for weights that are stored in float32; all else is passed on.
std::string withFloat32(std::string_view configText);

} // namespace furrow
