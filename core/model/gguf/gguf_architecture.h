#pragma once

#include "core/base/closed_set.h"
#include "core/model/model_family.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// A number of the metadata, "llama.block_count" without what stands before the point, and what config.json calls it.
struct GgufKey {
    const char* theirs = "";
    const char* config = "";
    bool isReal = false;
    bool isNeeded = false;
};

/// Architectures of llama.cpp, by their names in general.architecture.
enum class LlamaCpp { Gpt2, Llama, Qwen2, Qwen2Moe, Qwen3, Qwen3Moe, Gemma2, Gemma3, Phi3, Olmo2, GptNeoX };
template <>
inline constexpr std::array kClosedNames<LlamaCpp> {
    ClosedName { LlamaCpp::Gpt2, "gpt2" },
    ClosedName { LlamaCpp::Llama, "llama" },
    ClosedName { LlamaCpp::Qwen2, "qwen2" },
    ClosedName { LlamaCpp::Qwen2Moe, "qwen2moe" },
    ClosedName { LlamaCpp::Qwen3, "qwen3" },
    ClosedName { LlamaCpp::Qwen3Moe, "qwen3moe" },
    ClosedName { LlamaCpp::Gemma2, "gemma2" },
    ClosedName { LlamaCpp::Gemma3, "gemma3" },
    ClosedName { LlamaCpp::Phi3, "phi3" },
    ClosedName { LlamaCpp::Olmo2, "olmo2" },
    ClosedName { LlamaCpp::GptNeoX, "gptneox" },
};

/// One that our decoder covers, and the family of transformers' models that it is.
struct GgufArchitecture {
    LlamaCpp name;
    ModelFamily family; ///< its config.json; the names are those of tensors in a GGUF
    std::vector<std::span<const GgufKey>> keys;
    bool hasExperts = false; ///< "llama" is Llama or Mixtral
};

/// Null where there is none.
const GgufArchitecture* findGgufArchitecture(std::string_view name, bool hasExperts);
/// For a model of that family of config.json; null: llama.cpp has none for it, or none that is known here.
const GgufArchitecture* ggufArchitectureOf(std::string_view family);
/// "gpt2, llama, ..."
std::string ggufArchitectureList();

} // namespace furrow
