#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace furrow {

/// A way to split text before byte-pair merging, which a GGUF has the name of only.
struct GgufSplit {
    std::string_view name; ///< tokenizer.ggml.pre
    const char* normalizer; ///< parts of a tokenizer.json
    const char* preTokenizer;
    bool ignoresMerges = false;
};
inline constexpr const char* kByteLevelDecoder
    = R"({"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,"use_regex":true})";

/// Null: it is not known here. Source: llama-vocab.cpp of llama.cpp and the tokenizer.json of the models of that name.
const GgufSplit* findGgufSplit(std::string_view name);
/// Of a whole tokenizer.json; null: none of the known ones splits so.
const GgufSplit* ggufSplitOf(const nlohmann::json& tokenizer);
std::string ggufSplitList();

} // namespace furrow
