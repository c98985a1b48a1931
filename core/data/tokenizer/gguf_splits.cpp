#include "core/data/tokenizer/gguf_splits.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace furrow {

namespace {

using Json = nlohmann::json;

constexpr const char* kByteLevel
    = R"({"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true})";
constexpr const char* kDigitsFirst
    = R"({"type":"Sequence","pretokenizers":[{"type":"Digits","individual_digits":true},{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true}]})";
constexpr const char* kCl100k
    = R"({"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},"behavior":"Isolated","invert":false},{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":false}]})";
constexpr const char* kQwen2
    = R"({"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},"behavior":"Isolated","invert":false},{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":false,"use_regex":false}]})";

constexpr std::array kSplits { GgufSplit { "gpt-2", "null", kByteLevel }, GgufSplit { "olmo", "null", kByteLevel },
    GgufSplit { "smollm", "null", kDigitsFirst }, GgufSplit { "starcoder", "null", kDigitsFirst },
    GgufSplit { "llama-bpe", "null", kCl100k, true }, GgufSplit { "dbrx", "null", kCl100k },
    GgufSplit { "qwen2", R"({"type":"NFC"})", kQwen2 } };

/// Without what places of text in the input depend on, but no ids.
Json withoutOffsets(Json part)
{
    if (part.is_object())
        part.erase("trim_offsets");
    if (part.is_structured())
        for (Json& inner : part)
            inner = withoutOffsets(std::move(inner));
    return part;
}

Json memberOf(const Json& object, const char* key)
{
    return object.is_object() && object.contains(key) ? object[key] : Json(nullptr);
}

} // namespace

const GgufSplit* findGgufSplit(std::string_view name)
{
    const auto found
        = std::find_if(kSplits.begin(), kSplits.end(), [name](const GgufSplit& one) { return one.name == name; });
    return found == kSplits.end() ? nullptr : &*found;
}

const GgufSplit* ggufSplitOf(const nlohmann::json& tokenizer)
{
    const Json normalizer = memberOf(tokenizer, "normalizer");
    const Json preTokenizer = withoutOffsets(memberOf(tokenizer, "pre_tokenizer"));
    const Json model = memberOf(tokenizer, "model");
    const bool ignoresMerges = memberOf(model, "ignore_merges") == Json(true);
    const Json merges = memberOf(model, "merges");
    const bool isByteLevel = memberOf(preTokenizer, "type") == "ByteLevel";
    if (merges.is_array() && merges.empty() && normalizer.is_null() && isByteLevel)
        return &kSplits.front(); // without merges it does not matter where text is split
    const auto found = std::find_if(kSplits.begin(), kSplits.end(), [&](const GgufSplit& one) {
        return one.ignoresMerges == ignoresMerges && Json::parse(one.normalizer) == normalizer
            && withoutOffsets(Json::parse(one.preTokenizer)) == preTokenizer;
    });
    return found == kSplits.end() ? nullptr : &*found;
}

std::string ggufSplitList()
{
    std::string text;
    for (const GgufSplit& one : kSplits)
        text += (text.empty() ? "" : ", ") + std::string(one.name);
    return text;
}

} // namespace furrow
