// Conversations to tokens for conversation_masks.py. A line of standard input is {"tokenizer": path, "template": text,
// "tokens": {name: text}, "turns": "all" or "last"}, or a row {"messages": [...], "tools": [...]}, which is answered by
// a line {"ids": [...], "learnt": [...]} or {"problem": text}.

#include "core/data/plan/sample_encoder.h"

#include <nlohmann/json.hpp>

#include <iostream>

using namespace furrow;
using nlohmann::json;

namespace {

constexpr std::int64_t kThen = 1707321909; // 7 February 2024, 16:05:09: what the script tells Python too

struct Asked {
    std::shared_ptr<const Tokenizer> tokenizer;
    std::optional<SampleEncoder> encoder;
    std::string problem;

    void set(const json& line)
    {
        encoder.reset();
        DataManifest manifest;
        manifest.chat = ChatFormat { line["template"], {}, kThen };
        for (const auto& [name, text] : line["tokens"].items())
            manifest.chat->tokens.emplace_back(name, text.get<std::string>());
        RunConfig config;
        config.chatLoss = closedValue<LearntTurns>(line["turns"].get<std::string>()).value();
        auto loaded = loadTokenizer(line["tokenizer"]);
        if (!loaded.ok()) {
            problem = loaded.error().message;
            return;
        }
        tokenizer = std::move(loaded).value();
        auto opened = SampleEncoder::open(config, manifest, *tokenizer);
        problem = opened.ok() ? "" : opened.error().message;
        if (opened.ok())
            encoder.emplace(std::move(opened).value());
    }
    json answer(const std::string& row) const
    {
        if (!encoder)
            return { { "problem", problem } };
        std::string conversation;
        const auto why = readConversation(row, { ConversationForm::Messages, "messages" }, conversation);
        if (!why.empty())
            return { { "problem", why } };
        const auto sample = encoder->encode(conversation, true);
        if (!sample.ok() || !sample.value().problem.empty())
            return { { "problem", sample.ok() ? sample.value().problem : sample.error().message.text() } };
        return { { "ids", sample.value().tokens }, { "learnt", sample.value().learnt } };
    }
};

} // namespace

int main()
{
    Asked asked;
    for (std::string text; std::getline(std::cin, text);) {
        const auto line = json::parse(text, nullptr, false);
        if (line.is_object() && line.contains("template"))
            asked.set(line);
        else
            std::cout << asked.answer(text).dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
    }
    return 0;
}
