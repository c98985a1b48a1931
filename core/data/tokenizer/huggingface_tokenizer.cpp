#include "core/data/tokenizer/huggingface_tokenizer.h"

#include "core/config/named_tokenizer.h"
#include "core/data/tokenizer/byte_alphabet.h"

#include <nlohmann/json.hpp>

namespace furrow {

namespace {

using Json = nlohmann::ordered_json;
constexpr const char* kEndOfText = "<|endoftext|>";
constexpr const char* kUnknown = "<|unknown|>";

/// What byte and char share: BPE without merges, so that each symbol of the vocabulary is a token.
Json withoutMerges(const Tokenizer& tokenizer, Json vocabulary)
{
    vocabulary[kEndOfText] = tokenizer.endOfText();
    Json json = { { "version", "1.0" }, { "truncation", nullptr }, { "padding", nullptr } };
    json["added_tokens"] = { { { "id", tokenizer.endOfText() }, { "content", kEndOfText }, { "single_word", false },
        { "lstrip", false }, { "rstrip", false }, { "normalized", false }, { "special", true } } };
    for (const char* unused : { "normalizer", "pre_tokenizer", "post_processor", "decoder" })
        json[unused] = nullptr;
    json["model"] = { { "type", "BPE" }, { "dropout", nullptr }, { "unk_token", nullptr },
        { "continuing_subword_prefix", nullptr }, { "end_of_word_suffix", nullptr }, { "fuse_unk", false },
        { "byte_fallback", false }, { "ignore_merges", false }, { "vocab", std::move(vocabulary) },
        { "merges", Json::array() } };
    return json;
}

Json byteJson(const Tokenizer& tokenizer)
{
    Json vocabulary = Json::object();
    for (int byte = 0; byte < 256; ++byte)
        vocabulary[alphabetOfBytes(std::string(1, static_cast<char>(byte)))] = byte;
    Json json = withoutMerges(tokenizer, std::move(vocabulary));
    json["pre_tokenizer"] = json["decoder"]
        = { { "type", "ByteLevel" }, { "add_prefix_space", false }, { "trim_offsets", false }, { "use_regex", false } };
    return json;
}

Json charJson(const Tokenizer& tokenizer)
{
    Json vocabulary = Json::object();
    for (TokenId id = 0; id < tokenizer.endOfText(); ++id)
        vocabulary[tokenizer.decode({ &id, 1 })] = id;
    const auto unknown = tokenizer.unknownToken();
    const bool hasBytes = !unknown && tokenizer.vocabularySize() > tokenizer.endOfText() + 1;
    if (unknown)
        vocabulary[kUnknown] = *unknown;
    for (int byte = 0; hasBytes && byte < 256; ++byte) {
        static constexpr char digits[] = "0123456789ABCDEF";
        vocabulary[std::string("<0x") + digits[byte >> 4] + digits[byte & 15] + ">"]
            = tokenizer.endOfText() + 1 + static_cast<TokenId>(byte);
    }
    Json json = withoutMerges(tokenizer, std::move(vocabulary));
    json["model"]["byte_fallback"] = hasBytes;
    if (!hasBytes)
        json["model"]["unk_token"] = unknown ? kUnknown : kEndOfText;
    json["decoder"]
        = { { "type", "Sequence" }, { "decoders", { { { "type", "ByteFallback" } }, { { "type", "Fuse" } } } } };
    return json;
}

std::string endOfTextOf(const Tokenizer& tokenizer)
{
    const TokenId id = tokenizer.endOfText();
    const std::string text = tokenizer.decode({ &id, 1 });
    return text.empty() ? kEndOfText : text;
}

} // namespace

std::map<std::string, std::string> huggingFaceTokenizerFiles(const Tokenizer& tokenizer, std::int64_t contextLength)
{
    std::map<std::string, std::string> files;
    const std::string definition = tokenizer.definition();
    const auto named = closedValue<NamedTokenizer>(tokenizer.name());
    if (named == NamedTokenizer::Byte)
        files["tokenizer.json"] = byteJson(tokenizer).dump(1);
    else if (named == NamedTokenizer::Char)
        files["tokenizer.json"] = charJson(tokenizer).dump(1);
    else if (definition.starts_with('{') && definition.find("\"model\"") != std::string::npos)
        files["tokenizer.json"] = definition;
    else if (definition.starts_with('\n')) // the first field of a sentencepiece model
        files["tokenizer.model"] = definition;
    else
        files["furrow_tokenizer.json"] = definition;
    if (files.contains("tokenizer.json")) {
        const Json config = { { "tokenizer_class", "PreTrainedTokenizerFast" }, { "eos_token", endOfTextOf(tokenizer) },
            { "bos_token", endOfTextOf(tokenizer) }, { "clean_up_tokenization_spaces", false },
            { "model_max_length", contextLength } };
        files["tokenizer_config.json"] = config.dump(1);
    }
    return files;
}

} // namespace furrow
