#include "core/chat/conversation_text.h"

#include "core/base/sentence.h"
#include "core/base/utf8.h"
#include "core/chat/row_problems.h"
#include "core/chat/template/json.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <limits>

namespace furrow {

namespace {

constexpr std::size_t kMostBytes = std::size_t(128) << 20; ///< of a conversation as values
constexpr std::size_t kShown = 24; ///< of the texts at the place where two differ

std::tm dayOf(std::int64_t seconds)
{
    const auto days = std::chrono::floor<std::chrono::days>(std::chrono::sys_seconds(std::chrono::seconds(seconds)));
    const std::chrono::year_month_day date(days);
    const std::chrono::hh_mm_ss time(std::chrono::sys_seconds(std::chrono::seconds(seconds)) - days);
    std::tm now {};
    now.tm_year = int(date.year()) - 1900;
    now.tm_mon = int(unsigned(date.month())) - 1;
    now.tm_mday = int(unsigned(date.day()));
    now.tm_hour = int(time.hours().count());
    now.tm_min = int(time.minutes().count());
    now.tm_sec = int(time.seconds().count());
    now.tm_wday = int(std::chrono::weekday(days).c_encoding());
    now.tm_yday = int((days - std::chrono::sys_days(date.year() / std::chrono::January / 1)).count());
    return now;
}

std::string shown(std::string_view text, std::size_t at)
{
    return at >= text.size() ? "its end" : "'" + replaceInvalidUtf8(text.substr(at, kShown)).text + "'";
}

Error at(std::size_t message, const Message& what)
{
    return { ErrorCode::InvalidArgument,
        sentence("is refused at message %1: %2", { std::to_string(message + 1), what }) };
}

/// The error where `begin` is not how `whole` begins.
Status checkBeginning(std::string_view begin, std::string_view whole, std::size_t message, const Message& when)
{
    if (whole.starts_with(begin))
        return {};
    const auto place = static_cast<std::size_t>(
        std::mismatch(begin.begin(), begin.end(), whole.begin(), whole.end()).first - begin.begin());
    return at(message,
        sentence(
            "the chat template writes something else %1 than in the whole conversation, from byte %2 on (%3, %4), so what the assistant writes cannot be told",
            { when, std::to_string(place), shown(begin, place), shown(whole, place) }));
}

} // namespace

/// A conversation as the template takes it.
struct ConversationRenderer::Asked {
    chat::Arena arena { kMostBytes };
    std::span<const chat::Value> messages;
    ChatInputs inputs;
    bool readsWeights = false;

    static Result<std::unique_ptr<Asked>> read(std::string_view conversation, const ChatFormat& format)
    {
        auto asked = std::make_unique<Asked>();
        FURROW_TRY_ASSIGN(const auto whole, chat::readJson(conversation, asked->arena));
        const auto* object = std::get_if<chat::Dict*>(&whole);
        const auto* messages = object ? (*object)->named("messages") : nullptr;
        const auto* list = messages ? std::get_if<const chat::Sequence*>(messages) : nullptr;
        if (!list)
            return Error { ErrorCode::InvalidArgument, sentence("has no messages") };
        asked->messages = (*list)->items;
        if (const auto* tools = (*object)->named("tools"))
            asked->inputs.tools = *tools;
        for (const auto& [name, text] : format.tokens)
            asked->inputs.variables.emplace_back(name, std::string_view(text));
        asked->inputs.now = dayOf(format.day);
        asked->readsWeights = format.readsTurnWeights;
        return asked;
    }
    bool isAnswer(std::size_t message) const
    {
        const auto* dict = std::get_if<chat::Dict*>(&messages[message]);
        const auto* role = dict ? (*dict)->named("role") : nullptr;
        return role && chat::equals(*role, std::string_view("assistant"));
    }
    /// The data say that this turn of the assistant is there to be read only.
    bool isMuted(std::size_t message) const
    {
        const auto* dict = readsWeights ? std::get_if<chat::Dict*>(&messages[message]) : nullptr;
        const auto* weight = dict ? (*dict)->named("weight") : nullptr;
        const auto* train = dict ? (*dict)->named("train") : nullptr;
        return isAnswer(message)
            && ((weight && chat::equals(*weight, std::int64_t(0))) || (train && chat::equals(*train, false)));
    }
    bool hasMuted() const
    {
        for (std::size_t message = 0; message < messages.size(); ++message)
            if (isMuted(message))
                return true;
        return false;
    }
    /// The first `count` messages.
    Result<RenderedChat> render(const ChatTemplate& with, std::size_t count, bool prompt) const
    {
        chat::Sequence some;
        some.items = messages.first(count);
        for (const auto& message : some.items)
            chat::reach(some.extent, message);
        ChatInputs own = inputs;
        own.messages = static_cast<const chat::Sequence*>(&some);
        own.addGenerationPrompt = prompt;
        return with.render(own);
    }
};

ConversationRenderer::ConversationRenderer(ChatFormat format, std::shared_ptr<const ChatTemplate> parsed)
    : format_(std::move(format))
    , template_(std::move(parsed))
{
}

Result<ConversationRenderer> ConversationRenderer::open(const ChatFormat& format)
{
    FURROW_TRY_ASSIGN(auto parsed, ChatTemplate::parse(format.source));
    return ConversationRenderer(format, std::move(parsed));
}

Result<ConversationText> ConversationRenderer::write(std::string_view conversation, LearntTurns turns) const
{
    FURROW_TRY_ASSIGN(const auto asked, Asked::read(conversation, format_));
    auto whole = asked->render(*template_, asked->messages.size(), false);
    if (!whole.ok())
        return Error { whole.error().code, sentence(kRowRefused, { whole.error().message }) };
    ConversationText written { std::move(whole.value().text), std::move(whole.value().generated) };
    const bool hasMuted = asked->hasMuted();
    if (!template_->marksGeneration()) {
        FURROW_TRY_ASSIGN(written.learnt, differences(*asked, written.text, Turns::Learnt, turns));
    } else if (hasMuted) {
        FURROW_TRY_ASSIGN(const auto muted, differences(*asked, written.text, Turns::Muted, LearntTurns::All));
        std::erase_if(written.learnt, [&muted](const ChatStretch& stretch) {
            return std::any_of(muted.begin(), muted.end(),
                [&](const ChatStretch& turn) { return stretch.begin >= turn.begin && stretch.begin < turn.end; });
        });
    }
    std::erase_if(written.learnt, [](const ChatStretch& stretch) { return stretch.begin >= stretch.end; });
    if (written.learnt.empty() && hasMuted)
        return Error { ErrorCode::InvalidArgument, sentence(kRowNothingLearnt) };
    if (written.learnt.empty())
        return Error { ErrorCode::InvalidArgument, sentence(kRowAnswerNotWritten) };
    if (turns == LearntTurns::Last)
        written.learnt.erase(written.learnt.begin(), written.learnt.end() - 1);
    return written;
}

Result<std::vector<ChatStretch>> ConversationRenderer::differences(
    const Asked& asked, std::string_view text, Turns which, LearntTurns turns) const
{
    std::vector<ChatStretch> learnt;
    for (std::size_t count = asked.messages.size(); count > 0; --count) {
        const std::size_t message = count - 1;
        if (!asked.isAnswer(message) || asked.isMuted(message) != (which == Turns::Muted))
            continue;
        const auto before = asked.render(*template_, message, true);
        if (!before.ok())
            return at(message, before.error().message);
        FURROW_TRY(checkBeginning(before.value().text, text, message, sentence("before this message")));
        std::size_t end = text.size();
        if (count < asked.messages.size()) {
            const auto after = asked.render(*template_, count, false);
            if (!after.ok())
                return at(message, after.error().message);
            FURROW_TRY(checkBeginning(after.value().text, text, message, sentence("where this message is the last")));
            end = after.value().text.size();
        }
        learnt.insert(learnt.begin(), { before.value().text.size(), end });
        if (turns == LearntTurns::Last)
            break;
    }
    return learnt;
}

Result<std::string> ConversationRenderer::prompt(std::string_view conversation) const
{
    return prompt(conversation, std::numeric_limits<std::size_t>::max());
}

Result<std::string> ConversationRenderer::prompt(std::string_view conversation, std::size_t messages) const
{
    FURROW_TRY_ASSIGN(const auto asked, Asked::read(conversation, format_));
    auto rendered = asked->render(*template_, std::min(messages, asked->messages.size()), true);
    return rendered.ok() ? Result<std::string>(std::move(rendered.value().text)) : rendered.error();
}

Result<std::string> ConversationRenderer::whole(std::string_view conversation) const
{
    FURROW_TRY_ASSIGN(const auto asked, Asked::read(conversation, format_));
    auto rendered = asked->render(*template_, asked->messages.size(), false);
    return rendered.ok() ? Result<std::string>(std::move(rendered.value().text)) : rendered.error();
}

std::vector<TextPiece> piecesOf(std::string_view text, const std::vector<ChatStretch>& learnt)
{
    std::vector<TextPiece> pieces;
    std::size_t done = 0;
    const auto add = [&](std::size_t end, bool isLearnt) {
        end = std::min(end, text.size());
        if (end > done)
            pieces.push_back({ text.substr(done, end - done), isLearnt });
        done = std::max(done, end);
    };
    for (const ChatStretch& stretch : learnt) {
        add(stretch.begin, false);
        add(stretch.end, true);
    }
    add(text.size(), false);
    return pieces;
}

std::string markedText(std::string_view text, const std::vector<ChatStretch>& learnt)
{
    std::string marked;
    for (const TextPiece& piece : piecesOf(text, learnt))
        (marked += piece.isLearnt ? "\u00ab" : "").append(piece.text) += piece.isLearnt ? "\u00bb" : "";
    return marked;
}

std::vector<std::string> tokensWritten(const std::string& source)
{
    std::vector<std::string> found;
    for (std::size_t begin = source.find("<|"); begin != std::string::npos; begin = source.find("<|", begin + 2)) {
        const std::size_t end = source.find("|>", begin + 2);
        const std::string token = end == std::string::npos ? "" : source.substr(begin, end + 2 - begin);
        const bool isName
            = token.size() > 4 && token.size() < 64 && token.find_first_of(" \n'\"{}") == std::string::npos;
        if (isName && std::find(found.begin(), found.end(), token) == found.end())
            found.push_back(token);
    }
    return found;
}

} // namespace furrow
