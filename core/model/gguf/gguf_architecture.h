#pragma once

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

/// An architecture of llama.cpp that our decoder covers, and the family of transformers' models that it is.
struct GgufArchitecture {
    std::string_view name; ///< general.architecture
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
