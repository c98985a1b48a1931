#include "core/model/gguf/gguf_chat.h"

#include <utility>

namespace furrow {

nlohmann::ordered_json ggufChatConfig(const GgufFile& file)
{
    constexpr std::pair<const char*, const char*> kNamed[]
        = { { "bos_token", "tokenizer.ggml.bos_token_id" }, { "eos_token", "tokenizer.ggml.eos_token_id" },
              { "unk_token", "tokenizer.ggml.unknown_token_id" }, { "pad_token", "tokenizer.ggml.padding_token_id" } };
    nlohmann::ordered_json config = nlohmann::ordered_json::object();
    for (const auto& [ours, theirs] : kNamed)
        if (const std::string text = file.token(theirs); !text.empty())
            config[ours] = text;
    if (const std::string chat = file.text("tokenizer.chat_template"); !chat.empty())
        config["chat_template"] = chat;
    return config;
}

} // namespace furrow
