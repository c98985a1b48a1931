#pragma once

#include "core/data/tokenizer/tokenizer.h"

#include <string>

namespace furrow::test {

/// A tokenizer of the tokenizers library: bytes, <|im_start|> and <|im_end|>.
inline std::shared_ptr<const Tokenizer> chatTokenizer()
{
    std::string vocabulary;
    for (int c = 33; c < 127; ++c)
        vocabulary += (c == '"' || c == '\\' ? std::string("\"\\") : std::string("\"")) + static_cast<char>(c)
            + "\":" + std::to_string(c) + ",";
    const std::string json
        = "{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\"added_tokens\":["
          "{\"id\":0,\"content\":\"<|endoftext|>\",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,\"normalized\":false,\"special\":true},"
          "{\"id\":1,\"content\":\"<|im_start|>\",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,\"normalized\":false,\"special\":true},"
          "{\"id\":2,\"content\":\"<|im_end|>\",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,\"normalized\":false,\"special\":true}],"
          "\"normalizer\":null,\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true,\"use_regex\":true},"
          "\"post_processor\":null,\"decoder\":{\"type\":\"ByteLevel\"},\"model\":{\"type\":\"BPE\",\"dropout\":null,\"unk_token\":null,"
          "\"continuing_subword_prefix\":null,\"end_of_word_suffix\":null,\"fuse_unk\":false,\"byte_fallback\":false,\"ignore_merges\":false,"
          "\"vocab\":{\"<|endoftext|>\":0,\"<|im_start|>\":1,\"<|im_end|>\":2,"
        + vocabulary + "\"\xC4\x8A\":3,\"\xC4\xA0\":4,\"lo\":5,\"ello\":6},\"merges\":[\"l o\"]}}";
    auto read = loadTokenizerDefinition(json, "chat");
    return read.ok() ? read.value() : nullptr;
}

} // namespace furrow::test
