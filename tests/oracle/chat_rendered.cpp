// Renders chat templates for chat_templates.py. A line of standard input is {"template": text} or what is rendered with
// the last one: {"messages": [...], "tools": [...], "add_generation_prompt": bool, "variables": {...}}. Each of the
// latter is answered by a line {"text": text, "generated": [[begin, end], ...]} or {"error": text}; places are in
// bytes.

#include "core/chat/chat_template.h"
#include "core/chat/template/json.h"

#include <nlohmann/json.hpp>

#include <iostream>

using namespace furrow;

namespace {

/// Wednesday, 7 February 2024, 16:05:09: what the script tells Python too.
std::tm moment()
{
    std::tm now {};
    now.tm_year = 124;
    now.tm_mon = 1;
    now.tm_mday = 7;
    now.tm_wday = 3;
    now.tm_yday = 37;
    now.tm_hour = 16;
    now.tm_min = 5;
    now.tm_sec = 9;
    return now;
}

nlohmann::json answer(const ChatTemplate& chatTemplate, const chat::Dict& line)
{
    ChatInputs inputs;
    inputs.now = moment();
    inputs.messages = *line.named("messages");
    inputs.tools = *line.named("tools");
    inputs.addGenerationPrompt = std::get<bool>(*line.named("add_generation_prompt"));
    for (const auto& entry : std::get<chat::Dict*>(*line.named("variables"))->entries)
        inputs.variables.emplace_back(std::get<std::string_view>(entry.key), entry.value);
    const auto rendered = chatTemplate.render(inputs);
    if (!rendered.ok())
        return { { "error", rendered.error().message } };
    nlohmann::json generated = nlohmann::json::array();
    for (const auto& stretch : rendered.value().generated)
        generated.push_back({ stretch.begin, stretch.end });
    return { { "text", rendered.value().text }, { "generated", generated } };
}

} // namespace

int main()
{
    Result<std::shared_ptr<const ChatTemplate>> chatTemplate
        = Error { ErrorCode::NotFound, "there is no template yet" };
    for (std::string text; std::getline(std::cin, text);) {
        chat::Arena arena(std::size_t(64) << 20);
        const auto read = chat::readJson(text, arena);
        if (!read.ok()) {
            std::cerr << read.error().message << '\n';
            return 1;
        }
        const auto& line = *std::get<chat::Dict*>(read.value());
        if (const auto* source = line.named("template"))
            chatTemplate = ChatTemplate::parse(std::get<std::string_view>(*source));
        else if (chatTemplate.ok())
            std::cout << answer(*chatTemplate.value(), line).dump() << std::endl;
        else
            std::cout << nlohmann::json { { "error", chatTemplate.error().message } }.dump() << std::endl;
    }
    return 0;
}
