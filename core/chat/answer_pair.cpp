#include "core/chat/answer_pair.h"

#include "core/base/utf8.h"
#include "core/chat/row_problems.h"
#include "core/chat/template/json.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace furrow {

namespace {

using chat::Dict;
using chat::Sequence;
using chat::Value;

constexpr std::size_t kMostText = std::size_t(48) << 20;
const chat::JsonStyle kCompact { false, false, {}, ",", ":" };

bool isIn(const std::vector<std::string>& names, const std::string& name)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool isBlank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

bool isMessage(const Value& value)
{
    const auto* dict = std::get_if<Dict*>(&value);
    return dict && (*dict)->named("role");
}

bool isOfAssistant(const Value& message)
{
    const auto* dict = std::get_if<Dict*>(&message);
    const Value* role = dict ? (*dict)->named("role") : nullptr;
    return role && chat::equals(*role, std::string_view("assistant"));
}

/// One of the columns: a text, or messages, also as JSON in a text.
struct Part {
    bool isThere = false;
    std::string_view text;
    std::span<const Value> messages;
    bool isText() const { return messages.empty(); }
};

Part partOf(const Dict& row, std::string_view name, chat::Arena& arena)
{
    const Value* found = row.named(name);
    Part part;
    if (!found)
        return part;
    if (const auto* text = std::get_if<std::string_view>(found)) {
        part = { true, *text, {} };
        if (!text->starts_with('['))
            return part;
        const auto read = chat::readJson(*text, arena);
        const auto* list = read.ok() ? std::get_if<const Sequence*>(&read.value()) : nullptr;
        if (list && !(*list)->items.empty() && isMessage((*list)->items.front()))
            part.messages = (*list)->items;
    } else if (const auto* list = std::get_if<const Sequence*>(found)) {
        part = { !(*list)->items.empty(), {}, (*list)->items };
    }
    return part;
}

std::string jsonOf(const Value& value)
{
    std::string text;
    (void)chat::appendJson(value, kCompact, kMostText, text); // what cannot be written, readConversation() names
    return text;
}

std::vector<std::string> jsonOfEach(std::span<const Value> messages)
{
    std::vector<std::string> each;
    for (const Value& message : messages)
        each.push_back(jsonOf(message));
    return each;
}

std::string messageOf(std::string_view role, std::string_view content)
{
    return R"({"role":")" + std::string(role) + R"(","content":)" + jsonOf(content) + '}';
}

/// How many both begin with, and at least one of each is left over.
template <typename Items> std::size_t commonLength(const Items& a, const Items& b)
{
    const std::size_t most = std::min(a.size(), b.size());
    std::size_t same = 0;
    while (same < most && a[same] == b[same])
        ++same;
    return same == most && same > 0 ? same - 1 : same;
}

bool isAnswered(std::string_view conversation, std::size_t prompt, chat::Arena& arena)
{
    const auto whole = chat::readJson(conversation, arena); // not by a reader that takes no NaN
    const auto* object = whole.ok() ? std::get_if<Dict*>(&whole.value()) : nullptr;
    const Value* messages = object ? (*object)->named("messages") : nullptr;
    const auto* list = messages ? std::get_if<const Sequence*>(messages) : nullptr;
    return list && (*list)->items.size() > prompt
        && std::any_of(
            (*list)->items.begin() + static_cast<std::ptrdiff_t>(prompt), (*list)->items.end(), isOfAssistant);
}

/// "", or what is wrong with it.
std::string conversationOf(const std::vector<std::string>& messages, const Value* tools, std::string& conversation)
{
    std::string row = R"({"messages":[)";
    for (const std::string& message : messages)
        (row += row.back() == '[' ? "" : ",") += message;
    row += ']';
    if (tools)
        row += R"(,"tools":)" + jsonOf(*tools);
    row += '}';
    return readConversation(row, { ConversationForm::Messages, "messages" }, conversation);
}

struct Parts {
    Part prompt, chosen, rejected;
};

std::string writeTexts(const Parts& parts, std::string& out)
{
    const auto& [prompt, chosen, rejected] = parts;
    std::string_view asked = prompt.text, good = chosen.text, bad = rejected.text;
    if (!prompt.isThere) {
        std::size_t same = commonLength(good, bad);
        while (same > 0 && same < good.size() && (static_cast<unsigned char>(good[same]) & 0xC0) == 0x80)
            --same; // not inside of a character
        if (same > 0 && good[same - 1] == ' ') // a word is a token with the space before it
            --same;
        asked = good.substr(0, same);
        good.remove_prefix(same);
        bad.remove_prefix(same);
    }
    if (isBlank(good) || isBlank(bad))
        return sentence(kRowNoField, { isBlank(good) ? "chosen" : "rejected" }).text();
    if (good == bad)
        return std::string(kRowSameAnswers.text());
    out = R"({"prompt":)" + jsonOf(asked) + R"(,"chosen":)" + jsonOf(good) + R"(,"rejected":)" + jsonOf(bad) + '}';
    return {};
}

std::string writeMessages(const Parts& parts, const Dict& row, chat::Arena& arena, std::string& out)
{
    const auto& [prompt, chosen, rejected] = parts;
    const auto sideOf = [](const Part& part) {
        return part.isText() ? std::vector { messageOf("assistant", part.text) } : jsonOfEach(part.messages);
    };
    std::vector<std::string> good = sideOf(chosen), bad = sideOf(rejected), asked;
    // A text beside lists that begin with the question themselves only says it once more.
    const bool isSaidTwice = prompt.isText() && !chosen.isText() && !isOfAssistant(chosen.messages.front());
    if (prompt.isThere && !isSaidTwice) {
        asked = prompt.isText() ? std::vector { messageOf("user", prompt.text) } : jsonOfEach(prompt.messages);
    } else {
        const auto same = static_cast<std::ptrdiff_t>(commonLength(good, bad));
        asked.assign(good.begin(), good.begin() + same);
        good.erase(good.begin(), good.begin() + same);
        bad.erase(bad.begin(), bad.begin() + same);
    }
    if (asked.empty())
        return std::string(kRowNoPrompt.text());
    if (good == bad)
        return std::string(kRowSameAnswers.text());
    nlohmann::ordered_json pair { { "messages", asked.size() } };
    for (const auto& [name, side] : { std::pair { "chosen", &good }, std::pair { "rejected", &bad } }) {
        std::vector<std::string> all = asked;
        all.insert(all.end(), side->begin(), side->end());
        std::string conversation;
        if (auto problem = conversationOf(all, row.named("tools"), conversation); !problem.empty())
            return problem;
        if (!isValidUtf8(conversation))
            return std::string(kRowBrokenJson.text());
        if (!isAnswered(conversation, asked.size(), arena))
            return sentence(kRowNoAnswerIn, { name }).text();
        pair[name] = std::move(conversation);
    }
    if (pair["chosen"] == pair["rejected"])
        return std::string(kRowSameAnswers.text());
    out = pair.dump();
    return {};
}

} // namespace

ConversationColumns findAnswerPairs(const std::vector<std::string>& all, const std::vector<std::string>& texts)
{
    if (isIn(texts, "chosen[].role") && isIn(texts, "chosen[].content") && isIn(texts, "rejected[].content"))
        return { ConversationForm::PairOfMessages, "chosen" };
    if (isIn(all, "chosen") && isIn(all, "rejected"))
        return { ConversationForm::PairOfTexts, "chosen" };
    return {};
}

std::string writeAnswerPair(const Dict& row, chat::Arena& arena, std::string& pair)
{
    pair.clear();
    const Parts parts { partOf(row, "prompt", arena), partOf(row, "chosen", arena), partOf(row, "rejected", arena) };
    if (!parts.chosen.isThere || !parts.rejected.isThere)
        return sentence(kRowNoField, { parts.chosen.isThere ? "rejected" : "chosen" }).text();
    if (parts.chosen.isText() != parts.rejected.isText())
        return std::string(kRowTextAndMessages.text());
    const bool areTexts = parts.chosen.isText() && parts.prompt.isText();
    std::string problem = areTexts ? writeTexts(parts, pair) : writeMessages(parts, row, arena, pair);
    if (problem.empty() && (arena.full() || pair.size() >= kMostText))
        problem = kRowTooLarge.text();
    if (problem.empty() && !isValidUtf8(pair)) // who reads the row mends it then
        problem = kRowBrokenJson.text();
    if (!problem.empty())
        pair.clear();
    return problem;
}

Result<AnswerPair> readAnswerPair(std::string_view text)
{
    const auto json = nlohmann::json::parse(text, nullptr, false);
    const auto isText = [&json](const char* name) { return json.contains(name) && json.at(name).is_string(); };
    AnswerPair pair;
    pair.isText = json.is_object() && isText("prompt");
    const bool isOfMessages = json.is_object() && json.contains("messages") && json.at("messages").is_number_unsigned();
    if (!json.is_object() || !isText("chosen") || !isText("rejected") || pair.isText == isOfMessages)
        return Error { ErrorCode::Corrupt, sentence(kRowNoPair) };
    if (pair.isText)
        pair.prompt = json.at("prompt");
    else
        pair.promptMessages = json.at("messages");
    pair.chosen = json.at("chosen");
    pair.rejected = json.at("rejected");
    return pair;
}

} // namespace furrow
