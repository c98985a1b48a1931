#pragma once

#include "core/base/result.h"
#include "core/model/model_config.h"

#include <string>
#include <string_view>

namespace furrow {

/// Layouts of transformers that our GPT family maps onto one to one.
enum class HuggingFaceLayout { Gpt2, Llama };

/// Which layout holds this model; InvalidArgument says what stands in the way (experts, HRM, mixed building blocks).
Result<HuggingFaceLayout> huggingFaceLayout(const ModelConfig& config);

/// Tokens that generation needs; -1: none.
struct SpecialTokens {
    std::int64_t begin = -1;
    std::int64_t end = -1;
};

/// Text of config.json, readable by transformers.
std::string huggingFaceConfigText(const ModelConfig& config, HuggingFaceLayout layout, const SpecialTokens& tokens);
/// Text of generation_config.json.
std::string huggingFaceGenerationText(const SpecialTokens& tokens);

struct HuggingFaceConfig {
    ModelConfig config;
    HuggingFaceLayout layout = HuggingFaceLayout::Gpt2;
};
/// Reads config.json. Refuses (InvalidArgument, naming the key) model types and options that we would compute
/// differently.
Result<HuggingFaceConfig> parseHuggingFaceConfig(std::string_view text);

} // namespace furrow
