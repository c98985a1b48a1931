#include "core/chat/chat_format.h"

#include "core/base/clock.h"
#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/model/gguf/gguf_chat.h"

#include <nlohmann/json.hpp>

#include <array>

namespace furrow {

namespace {

using nlohmann::json;

constexpr std::uint64_t kMostTemplate = 1 << 20;
constexpr std::uint64_t kMostJson = 64 << 20; // tokenizer_config.json lists the added tokens too
constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr const char* kTemplateFile = "chat_template.jinja";
constexpr const char* kTokensFile = "special_tokens_map.json";
constexpr std::array kTokenNames { "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token",
    "mask_token" };

bool isThere(const std::filesystem::path& path)
{
    std::error_code unknown;
    return std::filesystem::exists(path, unknown);
}

/// null where there is no such file.
Result<json> readJsonFile(const std::filesystem::path& path)
{
    if (!isThere(path))
        return json();
    FURROW_TRY_ASSIGN(const auto text, readFile(path, kMostJson));
    auto read = json::parse(text, nullptr, false);
    if (!read.is_object())
        return Error { ErrorCode::Corrupt, sentence("%1 is not a JSON object.", { utf8Text(path) }) };
    return read;
}

/// The template in a tokenizer_config.json, the one called "default" of several; "" where it has none.
std::string templateIn(const json& config)
{
    const auto found = config.find("chat_template");
    if (found == config.end() || found->is_string())
        return found == config.end() ? std::string() : found->get<std::string>();
    for (const auto& one : found->is_array() ? *found : json::array())
        if (one.is_object() && one.value("name", json()) == "default" && one.value("template", json()).is_string())
            return one["template"].get<std::string>();
    return {};
}

void takeTokens(const json& from, ChatFormat& format)
{
    if (!from.is_object() || !format.tokens.empty())
        return;
    for (const char* name : kTokenNames) {
        const json written = from.value(name, json());
        const json text = written.is_object() ? written.value("content", json()) : written;
        if (text.is_string())
            format.tokens.emplace_back(name, text.get<std::string>());
    }
}

Status takeTokensOf(const std::filesystem::path& folder, ChatFormat& format)
{
    for (const char* name : { "tokenizer_config.json", kTokensFile }) {
        FURROW_TRY_ASSIGN(const auto config, readJsonFile(folder / name));
        takeTokens(config, format);
    }
    return {};
}

Result<std::string> templateOfFolder(const std::filesystem::path& folder)
{
    if (isThere(folder / kTemplateFile))
        return readFile(folder / kTemplateFile, kMostTemplate);
    for (const char* name : { "chat_template.json", "tokenizer_config.json" }) {
        FURROW_TRY_ASSIGN(const auto config, readJsonFile(folder / name));
        if (const auto source = config.is_object() ? templateIn(config) : std::string(); !source.empty())
            return source;
    }
    return std::string();
}

/// As of the tokenizer_config.json that it stands for.
Result<std::string> templateOfGguf(const std::filesystem::path& path, ChatFormat& format)
{
    FURROW_TRY_ASSIGN(const auto file, readGguf(path));
    const json config = ggufChatConfig(file);
    takeTokens(config, format);
    return templateIn(config);
}

Result<std::string> templateOfFile(const std::filesystem::path& path)
{
    FURROW_TRY_ASSIGN(const auto text, readFile(path, kMostJson));
    const auto config = json::parse(text, nullptr, false);
    if (!config.is_object())
        return text;
    const auto source = templateIn(config);
    return source.empty()
        ? Result<std::string>(Error { ErrorCode::InvalidArgument,
              sentence("%1 has no chat_template. Name the file of a template, or the folder of a model that has one.",
                  { utf8Text(path) }) })
        : source;
}

} // namespace

const char* const kChatMl = "{%- for message in messages %}\n"
                            "    {{- '<|im_start|>' + message.role + '\\n' }}\n"
                            "    {%- if message.role == 'assistant' %}\n"
                            "        {%- generation %}{{- message.content + '<|im_end|>' }}{% endgeneration %}\n"
                            "    {%- else %}\n"
                            "        {{- message.content + '<|im_end|>' }}\n"
                            "    {%- endif %}\n"
                            "    {{- '\\n' }}\n"
                            "{%- endfor %}\n"
                            "{%- if add_generation_prompt %}\n"
                            "    {{- '<|im_start|>assistant\\n' }}\n"
                            "{%- endif %}\n";

std::string ChatFormat::token(const std::string& name) const
{
    for (const auto& [known, text] : tokens)
        if (known == name)
            return text;
    return {};
}

Result<std::optional<ChatFormat>> readChatFormat(
    const std::filesystem::path& place, const std::filesystem::path& tokens)
{
    std::error_code unknown;
    const bool isFolder = std::filesystem::is_directory(place, unknown);
    if (!isFolder && !isThere(place))
        return Error { ErrorCode::NotFound,
            sentence("There is no chat template %1. Name its file, the folder of a model that has one, or chatml.",
                { utf8Text(place) }) };
    const bool isModel = !isFolder && isGguf(place);
    ChatFormat format;
    FURROW_TRY_ASSIGN(format.source,
        isFolder      ? templateOfFolder(place)
            : isModel ? templateOfGguf(place, format)
                      : templateOfFile(place));
    if (format.source.empty())
        return std::optional<ChatFormat>();
    if (!isModel)
        FURROW_TRY(takeTokensOf(isFolder ? place : place.parent_path(), format));
    if (!tokens.empty())
        FURROW_TRY(takeTokensOf(tokens, format));
    if (format.source.find("strftime_now") != std::string::npos)
        format.day = systemClock().wallNs() / kNsPerSecond;
    return std::optional(std::move(format));
}

std::vector<std::pair<std::string, std::string>> chatFormatFiles(const ChatFormat& format)
{
    std::vector<std::pair<std::string, std::string>> files { { kTemplateFile, format.source } };
    json tokens = json::object();
    for (const auto& [name, text] : format.tokens)
        tokens[name] = text;
    if (!tokens.empty())
        files.emplace_back(kTokensFile, tokens.dump(1, ' ', false, json::error_handler_t::replace));
    return files;
}

} // namespace furrow
