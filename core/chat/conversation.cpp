#include "core/chat/conversation.h"

#include "core/chat/answer_pair.h"
#include "core/chat/row_problems.h"
#include "core/chat/template/json.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace furrow {

namespace {

using chat::Dict;
using chat::Sequence;
using chat::Value;

constexpr std::size_t kMostBytes = std::size_t(64) << 20; ///< of a row and its values
constexpr std::size_t kMostText = std::size_t(48) << 20;
constexpr std::size_t kShownRole = 40;

constexpr std::array kForms { std::pair { ConversationForm::Messages, "messages" },
    std::pair { ConversationForm::ShareGpt, "sharegpt" }, std::pair { ConversationForm::Alpaca, "alpaca" },
    std::pair { ConversationForm::Prompt, "prompt" }, std::pair { ConversationForm::PairOfTexts, "pair_of_texts" },
    std::pair { ConversationForm::PairOfMessages, "pair_of_messages" } };

struct RoleName {
    std::string_view written;
    std::string_view role;
};
/// What data sets call the roles. Chat templates know those of the second column.
constexpr std::array kRoles { RoleName { "system", "system" }, RoleName { "developer", "developer" },
    RoleName { "user", "user" }, RoleName { "human", "user" }, RoleName { "assistant", "assistant" },
    RoleName { "gpt", "assistant" }, RoleName { "chatgpt", "assistant" }, RoleName { "bot", "assistant" },
    RoleName { "model", "assistant" }, RoleName { "tool", "tool" }, RoleName { "observation", "tool" },
    RoleName { "function_response", "tool" }, RoleName { "function", "function" }, RoleName { "ipython", "ipython" } };

bool isIn(const std::vector<std::string>& names, const std::string& name)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// @return "" where the column is no list of messages
ConversationColumns listColumn(const std::vector<std::string>& texts, const std::string& column)
{
    if (isIn(texts, column + "[].role") && isIn(texts, column + "[].content"))
        return { ConversationForm::Messages, column };
    if (isIn(texts, column + "[].from") && isIn(texts, column + "[].value"))
        return { ConversationForm::ShareGpt, column };
    return {};
}

const Value kNothing = chat::None {};

const Value& member(const Dict& dict, std::string_view name)
{
    const Value* found = dict.named(name);
    return found ? *found : kNothing;
}

/// nullptr where it is no text.
const std::string_view* textIn(const Dict& dict, std::string_view name)
{
    return std::get_if<std::string_view>(&member(dict, name));
}

bool isSpace(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

bool isEmptyList(const Value& value)
{
    const auto* list = std::get_if<const Sequence*>(&value);
    return std::holds_alternative<chat::None>(value) || (list && (*list)->items.empty());
}

/// Writes the messages of one row. The first thing that is wrong with them stops it.
class ConversationWriter {
public:
    ConversationWriter(chat::Arena& arena, std::string& out)
        : arena_(arena)
        , out_(out)
    {
        out_ = R"({"messages":[)";
    }

    /// A text that counts only where there is one.
    void addSystem(const Dict& row)
    {
        if (const auto* text = textIn(row, "system"); text && !isSpace(*text))
            add("system", *text);
    }
    void add(std::string_view role, std::string_view content)
    {
        begin(role);
        key("content");
        write(content);
        end(role, !isSpace(content));
    }
    /// A list of messages, or the same as JSON in a text.
    void addList(const Value& value, std::string_view column, bool isShareGpt)
    {
        const Value list = parsed(value);
        const auto* items = std::get_if<const Sequence*>(&list);
        if (!items || (*items)->items.empty())
            return fail(sentence(kRowNoMessagesIn, { column }));
        for (const Value& item : (*items)->items) {
            const auto* message = std::get_if<Dict*>(&item);
            if (!message)
                return fail(sentence(kMessageNoObject, { number() }));
            addMessage(**message, isShareGpt ? "from" : "role", isShareGpt ? "value" : "content");
            if (!problem_.empty())
                return;
        }
    }
    /// Ends the messages; `tools` of the row, a list or the same as JSON in a text, comes behind them.
    std::string finish(const Dict& row)
    {
        out_ += ']';
        const auto* text = textIn(row, "tools");
        const Value tools = text && isSpace(*text) ? kNothing : parsed(member(row, "tools"));
        if (problem_.empty() && !isEmptyList(tools) && !std::holds_alternative<const Sequence*>(tools))
            fail(sentence(kRowToolsNoList));
        if (problem_.empty() && !isEmptyList(tools)) {
            out_ += R"(,"tools":)";
            write(tools);
        }
        out_ += '}';
        if (problem_.empty() && count_ == 0)
            fail(sentence(kRowNoMessages));
        if (problem_.empty() && !hasAnswer_)
            fail(sentence(kRowNoAnswer));
        if (problem_.empty() && out_.size() >= kMostText)
            fail(sentence(kRowTooLarge));
        return problem_;
    }
    void fail(const Message& problem)
    {
        if (problem_.empty())
            problem_ = problem.text();
    }

private:
    std::string number() const { return std::to_string(count_ + 1); } ///< of the message that is written

    Value parsed(const Value& value)
    {
        const auto* text = std::get_if<std::string_view>(&value);
        if (!text)
            return value;
        auto read = chat::readJson(*text, arena_);
        return read.ok() ? read.value() : kNothing;
    }

    void write(const Value& value)
    {
        static const chat::JsonStyle kCompact { false, false, {}, ",", ":" };
        if (!chat::appendJson(value, kCompact, kMostText, out_).empty())
            fail(sentence(kMessageNotJson, { number() }));
    }
    void key(std::string_view name)
    {
        out_ += ',';
        write(name);
        out_ += ':';
    }
    void begin(std::string_view role)
    {
        out_ += count_ > 0 ? R"(,{"role":)" : R"({"role":)";
        write(role);
    }
    void end(std::string_view role, bool says)
    {
        if (role == "assistant" && !says)
            fail(sentence(kMessageSilent, { number() }));
        hasAnswer_ = hasAnswer_ || role == "assistant";
        out_ += '}';
        ++count_;
    }

    void addMessage(const Dict& message, std::string_view roleKey, std::string_view contentKey)
    {
        const auto* written = textIn(message, roleKey);
        if (!written || isSpace(*written))
            return fail(sentence(kMessageNoRole, { number() }));
        const bool isCall = *written == "function_call"; // of ShareGPT: what the assistant asks of a tool
        const auto known = std::find_if(
            kRoles.begin(), kRoles.end(), [&](const RoleName& name) { return name.written == *written; });
        if (known == kRoles.end() && !isCall)
            return fail(sentence(kMessageUnknownRole, { number(), written->substr(0, kShownRole) }));
        const std::string_view role = isCall ? "assistant" : known->role;
        begin(role);
        key("content");
        const bool calls = !isEmptyList(member(message, "tool_calls"));
        const bool says = writeContent(member(message, contentKey), calls);
        for (const auto& entry : message.entries) {
            const auto name = std::get<std::string_view>(entry.key);
            const bool isWritten = name == roleKey || name == contentKey || name == "role" || name == "content";
            if (isWritten || std::holds_alternative<chat::None>(entry.value))
                continue;
            key(name);
            write(entry.value);
        }
        end(role, says || calls);
    }

    /// @return whether it says anything
    bool writeContent(const Value& content, bool calls)
    {
        if (const auto* text = std::get_if<std::string_view>(&content)) {
            write(*text);
            return !isSpace(*text);
        }
        if (const auto* parts = std::get_if<const Sequence*>(&content)) {
            const std::string text = joined(**parts);
            write(std::string_view(text));
            return !isSpace(text);
        }
        if (!calls || !std::holds_alternative<chat::None>(content))
            fail(sentence(
                std::holds_alternative<chat::None>(content) ? kMessageNoContent : kMessageContentNoText, { number() }));
        out_ += "null";
        return false;
    }

    /// The texts of [{"type": "text", "text": ...}, ...].
    std::string joined(const Sequence& parts)
    {
        std::string all;
        for (const Value& part : parts.items) {
            const auto* dict = std::get_if<Dict*>(&part);
            const auto* text = dict ? textIn(**dict, "text") : std::get_if<std::string_view>(&part);
            if (!text)
                fail(sentence(kMessagePartNoText, { number() }));
            else
                all += *text;
        }
        return all;
    }

    chat::Arena& arena_;
    std::string& out_;
    std::string problem_;
    std::size_t count_ = 0;
    bool hasAnswer_ = false;
};

void addAlpaca(const Dict& row, ConversationWriter& writer)
{
    const auto* instruction = textIn(row, "instruction");
    const auto* output = textIn(row, "output");
    if (!instruction || isSpace(*instruction))
        return writer.fail(sentence(kRowNoField, { "instruction" }));
    if (!output || isSpace(*output))
        return writer.fail(sentence(kRowNoField, { "output" }));
    writer.addSystem(row);
    std::string asked(*instruction);
    if (const auto* input = textIn(row, "input"); input && !isSpace(*input))
        (asked += '\n') += *input;
    writer.add("user", asked);
    writer.add("assistant", *output);
}

void addPrompt(const Dict& row, const std::string& column, ConversationWriter& writer)
{
    const auto* prompt = textIn(row, "prompt");
    const auto* answer = textIn(row, column);
    const auto isList
        = [&](std::string_view name) { return std::holds_alternative<const Sequence*>(member(row, name)); };
    if (!prompt && !isList("prompt"))
        return writer.fail(sentence(kRowNoField, { "prompt" }));
    if (!answer && !isList(column))
        return writer.fail(sentence(kRowNoField, { column }));
    writer.addSystem(row);
    if (prompt)
        writer.add("user", *prompt);
    else
        writer.addList(member(row, "prompt"), "prompt", false);
    if (answer)
        writer.add("assistant", *answer);
    else
        writer.addList(member(row, column), column, false);
}

} // namespace

std::string toString(ConversationForm form)
{
    for (const auto& [known, name] : kForms)
        if (known == form)
            return name;
    return {};
}

ConversationForm conversationForm(std::string_view name)
{
    for (const auto& [form, known] : kForms)
        if (known == name)
            return form;
    return ConversationForm::None;
}

ConversationColumns findConversation(
    const std::vector<std::string>& all, const std::vector<std::string>& texts, const std::string& wanted)
{
    if (!wanted.empty())
        return listColumn(texts, wanted);
    for (const char* usual : { "messages", "conversations", "conversation" })
        if (const auto found = listColumn(texts, usual); found.form != ConversationForm::None)
            return found;
    if (isIn(all, "instruction") && isIn(all, "output"))
        return { ConversationForm::Alpaca, "output" };
    for (const char* answer : { "completion", "response" })
        if (isIn(all, "prompt") && isIn(all, answer))
            return { ConversationForm::Prompt, answer };
    return {};
}

std::vector<std::string> textColumns(const ConversationColumns& columns)
{
    switch (columns.form) {
    case ConversationForm::Messages: return { columns.column + "[].content", columns.column + "[].role" };
    case ConversationForm::ShareGpt: return { columns.column + "[].value", columns.column + "[].from", "system" };
    case ConversationForm::Alpaca: return { columns.column, "instruction", "input", "system" };
    case ConversationForm::Prompt: return { columns.column, "prompt", "system" };
    case ConversationForm::PairOfTexts: return { "chosen", "rejected", "prompt" };
    case ConversationForm::PairOfMessages:
        return { "chosen[].content", "chosen[].role", "rejected[].content", "rejected[].role", "prompt",
            "prompt[].content", "prompt[].role" };
    case ConversationForm::None: break;
    }
    return { columns.column };
}

std::string readConversation(std::string_view row, const ConversationColumns& columns, std::string& conversation)
{
    conversation.clear();
    chat::Arena arena(kMostBytes);
    const auto read = chat::readJson(row, arena);
    if (!read.ok())
        return sentence(kRowBrokenJsonBecause, { read.error().message }).text();
    const auto* object = std::get_if<Dict*>(&read.value());
    if (!object)
        return std::string(kRowNoObject.text());
    if (isPair(columns.form))
        return writeAnswerPair(**object, arena, conversation);
    ConversationWriter writer(arena, conversation);
    switch (columns.form) {
    case ConversationForm::Messages: writer.addList(member(**object, columns.column), columns.column, false); break;
    case ConversationForm::ShareGpt:
        writer.addSystem(**object);
        writer.addList(member(**object, columns.column), columns.column, true);
        break;
    case ConversationForm::Alpaca: addAlpaca(**object, writer); break;
    case ConversationForm::Prompt: addPrompt(**object, columns.column, writer); break;
    case ConversationForm::PairOfTexts:
    case ConversationForm::PairOfMessages:
    case ConversationForm::None: writer.fail(sentence(kRowNoConversation)); break;
    }
    std::string problem = writer.finish(**object);
    if (!problem.empty())
        conversation.clear();
    return problem;
}

std::string conversationOf(const std::vector<ChatMessage>& messages)
{
    chat::Arena arena(kMostBytes);
    std::string conversation;
    ConversationWriter writer(arena, conversation);
    for (const auto& message : messages)
        writer.add(message.role, message.content);
    const Dict nothing {};
    (void)writer.finish(nothing); // one that waits for its answer has none
    return conversation;
}

} // namespace furrow
