#include "core/data/chat_turns.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace furrow {

namespace {

constexpr std::string_view kAnswer = "Zq7wX"; ///< found again in what a template writes

/// The token that a text is, or nothing.
std::optional<TokenId> tokenOf(const std::string& text, const Tokenizer& tokenizer)
{
    std::vector<TokenId> ids;
    if (text.empty() || !tokenizer.encodeMatchingSpecial(text, ids).ok() || ids.size() != 1)
        return std::nullopt;
    return ids.front();
}

/// Whether text never becomes this token.
bool isSpecial(TokenId token, const Tokenizer& tokenizer)
{
    const std::string text = tokenizer.decode({ &token, 1 });
    std::vector<TokenId> plain;
    return text.empty() || (tokenizer.encode(text, plain).ok() && (plain.size() != 1 || plain.front() != token));
}

} // namespace

ChatTurns::ChatTurns(ConversationRenderer renderer, const Tokenizer& tokenizer)
    : renderer_(std::move(renderer))
    , tokenizer_(&tokenizer)
{
}

Result<ChatTurns> ChatTurns::open(
    const ChatFormat& format, const Tokenizer& tokenizer, std::string_view generationConfig)
{
    FURROW_TRY_ASSIGN(auto renderer, ConversationRenderer::open(format));
    ChatTurns turns(std::move(renderer), tokenizer);
    turns.addEnd(tokenizer.endOfText());
    if (const auto token = tokenOf(format.token("eos_token"), tokenizer))
        turns.addEnd(*token);
    const auto config = nlohmann::json::parse(generationConfig, nullptr, false);
    const auto ends = config.is_object() ? config.value("eos_token_id", nlohmann::json()) : nlohmann::json();
    for (const auto& end : ends.is_array() ? ends : nlohmann::json::array({ ends }))
        if (end.is_number_unsigned() && end.get<std::uint64_t>() < tokenizer.vocabularySize())
            turns.addEnd(end.get<TokenId>());
    turns.findEnd();
    return turns;
}

void ChatTurns::addEnd(TokenId token)
{
    if (std::find(endTokens_.begin(), endTokens_.end(), token) == endTokens_.end())
        endTokens_.push_back(token);
}

/// What the template writes behind an answer: a special token, or a text.
void ChatTurns::findEnd()
{
    const auto written = renderer_.write(
        conversationOf({ { "user", "A" }, { "assistant", std::string(kAnswer) } }), LearntTurns::Last);
    const auto place = written.ok() ? written.value().text.find(kAnswer) : std::string::npos;
    if (place == std::string::npos)
        return;
    std::string behind = written.value().text.substr(place + kAnswer.size());
    behind.erase(0, behind.find_first_not_of(" \t\r\n"));
    behind.resize(std::min(behind.find('\n'), behind.size()));
    std::vector<TokenId> ids;
    if (behind.empty() || !tokenizer_->encodeMatchingSpecial(behind, ids).ok() || ids.empty())
        return;
    if (isSpecial(ids.front(), *tokenizer_))
        addEnd(ids.front());
    else
        endText_ = behind;
}

Result<std::vector<TokenId>> ChatTurns::prompt(const std::vector<ChatMessage>& messages) const
{
    FURROW_TRY_ASSIGN(const auto text, renderer_.prompt(conversationOf(messages)));
    std::vector<TokenId> tokens;
    FURROW_TRY(tokenizer_->encodeMatchingSpecial(text, tokens));
    return tokens;
}

std::vector<std::string> unknownCharacters(std::string_view text, const Tokenizer& tokenizer)
{
    std::vector<std::string> found;
    const auto unknown = tokenizer.unknownToken();
    for (std::size_t begin = 0, end = 0; unknown && begin < text.size(); begin = end) {
        for (end = begin + 1; end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80;)
            ++end;
        const std::string one(text.substr(begin, end - begin));
        std::vector<TokenId> ids;
        const bool isUnknown
            = tokenizer.encode(one, ids).ok() && std::find(ids.begin(), ids.end(), *unknown) != ids.end();
        if (isUnknown && std::find(found.begin(), found.end(), one) == found.end())
            found.push_back(one);
    }
    return found;
}

} // namespace furrow
