// sample and chat: text from a checkpoint.

#include "core/train/tasks/tasks_torch.h"

#include "core/base/clock.h"
#include "core/base/file_system.h"
#include "core/base/sentence.h"
#include "core/data/chat_turns.h"
#include "core/run/folder/adopted_model.h"
#include "core/train/sample/sampler_torch.h"

#include <iostream>

namespace furrow {

namespace {

SampleOptions sampleOptions(const TaskOptions& options)
{
    SampleOptions sample;
    sample.maxTokens = options.tokens;
    sample.temperature = options.temperature;
    sample.topK = options.topK;
    sample.topP = options.topP;
    sample.seed = static_cast<std::uint64_t>(options.seed);
    return sample;
}

/// Tokens to text as they come; a code point may need several, so text grows by whole ones. Where a text ends the
/// answer, what may be its beginning is held back.
class TextStream {
public:
    TextStream(const Tokenizer& tokenizer, const TaskOutput& output, std::string endText = {})
        : tokenizer_(tokenizer)
        , output_(output)
        , endText_(std::move(endText))
    {
    }
    /// false: the text is over.
    bool add(std::int64_t token)
    {
        tokens_.push_back(static_cast<TokenId>(token));
        text_ = tokenizer_.decode(tokens_);
        const auto end = endText_.empty() ? std::string::npos : text_.find(endText_);
        if (end != std::string::npos)
            text_.resize(end);
        show(end != std::string::npos ? 0 : heldBack());
        return end == std::string::npos;
    }
    /// What was held back is text after all.
    void finish() { show(0); }
    const std::string& text() const { return text_; }
    std::size_t tokens() const { return tokens_.size(); }

private:
    /// Bytes at the end of the text with which the end text begins.
    std::size_t heldBack() const
    {
        std::size_t bytes = std::min(endText_.size(), text_.size());
        while (bytes > 0 && !endText_.starts_with(std::string_view(text_).substr(text_.size() - bytes)))
            --bytes;
        return bytes;
    }
    void show(std::size_t held)
    {
        const auto now = std::string_view(text_).substr(0, text_.size() - held);
        if (now.size() <= shown_.size() || now.substr(0, shown_.size()) != shown_)
            return;
        output_(std::string(now.substr(shown_.size())));
        shown_ = now;
    }

    const Tokenizer& tokenizer_;
    const TaskOutput& output_;
    std::string endText_;
    std::vector<TokenId> tokens_;
    std::string text_;
    std::string shown_;
};

using Tokens = std::vector<std::int64_t>;

/// A model without a run reads a prompt as transformers does.
bool readsSpecial(const LoadedRun& run, const TaskOptions& options) { return options.special || !run.isRun(); }

Result<Tokens> encoded(const Tokenizer& tokenizer, const std::string& text, bool special)
{
    std::vector<TokenId> ids;
    FURROW_TRY(special ? tokenizer.encodeMatchingSpecial(text, ids) : tokenizer.encode(text, ids));
    Tokens tokens(ids.begin(), ids.end());
    if (tokens.empty())
        tokens.push_back(tokenizer.endOfText());
    return tokens;
}

/// How the model of a run is talked to; nothing where it has no chat template.
Result<std::optional<ChatTurns>> turnsOf(const LoadedRun& run)
{
    FURROW_TRY_ASSIGN(const auto format, chatFormatOfRun(run.setup.paths, run.setup.file));
    if (!format)
        return std::optional<ChatTurns>();
    FURROW_TRY_ASSIGN(const auto origin, originFiles(run.setup.paths));
    const auto generation = origin.find("generation_config.json");
    FURROW_TRY_ASSIGN(auto turns,
        ChatTurns::open(*format, *run.tokenizer, generation == origin.end() ? std::string() : generation->second));
    return std::optional(std::move(turns));
}

Result<Tokens> promptOf(const ChatTurns& turns, const std::vector<ChatMessage>& messages)
{
    FURROW_TRY_ASSIGN(const auto ids, turns.prompt(messages));
    return Tokens(ids.begin(), ids.end());
}

void endAs(const ChatTurns& turns, SampleOptions& sample)
{
    sample.stopTokens.assign(turns.endTokens().begin(), turns.endTokens().end());
}

std::string joined(const std::vector<std::string>& words)
{
    std::string all;
    for (const auto& word : words)
        all += (all.empty() ? "" : " ") + word;
    return all;
}

const Error kNoText { ErrorCode::InvalidArgument, sentence("the counting model writes no text") };

} // namespace

Result<nlohmann::json> sampleTask(
    const TaskOptions& options, const TaskOutput& output, const std::function<bool()>& stopRequested)
{
    FURROW_TRY_ASSIGN(auto run, loadRun(options));
    auto* model = run.learner->model();
    if (!model)
        return kNoText;
    SampleOptions sample = sampleOptions(options);
    Tokens prompt;
    std::string endText;
    if (options.chat.empty()) {
        FURROW_TRY_ASSIGN(prompt, encoded(*run.tokenizer, options.prompt, readsSpecial(run, options)));
        output(options.prompt);
    } else {
        FURROW_TRY_ASSIGN(const auto turns, turnsOf(run));
        if (!turns)
            return Error { ErrorCode::InvalidArgument,
                sentence("the model of this run has no chat template; go on from a text with --prompt") };
        FURROW_TRY_ASSIGN(prompt, promptOf(*turns, { { "user", options.chat } }));
        endAs(*turns, sample);
        endText = turns->endText();
    }
    const std::int64_t began = systemClock().monotonicNs();
    TextStream text(*run.tokenizer, output, endText);
    bool isOver = false;
    auto tokens = sampleText(*model, prompt, sample, [&](std::int64_t token) {
        isOver = !text.add(token);
        return !isOver && !stopRequested();
    });
    if (!tokens.ok())
        return tokens.error();
    text.finish();
    const double seconds = static_cast<double>(systemClock().monotonicNs() - began) / 1e9;
    const bool isWhole = isOver || static_cast<std::int64_t>(tokens.value().size()) < sample.maxTokens;
    return nlohmann::json { { "checkpoint", run.checkpoint }, { "weights", weightsJson(run) },
        { "prompt", options.chat.empty() ? options.prompt : options.chat }, { "prompt_tokens", prompt },
        { "unknown_characters",
            joined(unknownCharacters(options.chat.empty() ? options.prompt : options.chat, *run.tokenizer)) },
        { "text", text.text() }, { "ended", isWhole && !stopRequested() }, { "tokens", text.tokens() },
        { "tokens_per_s", static_cast<double>(text.tokens()) / std::max(seconds, 1e-9) } };
}

namespace {

/// A conversation that grows by what a person writes and the model answers.
class Talk {
public:
    virtual ~Talk() = default;
    virtual void forget() = 0;
    /// The tokens that the model goes on from.
    virtual Result<Tokens> ask(const std::string& line) = 0;
    virtual void keep(const std::string& answer) = 0;
};

/// In the format that the model learnt.
class TemplateTalk : public Talk {
public:
    explicit TemplateTalk(const ChatTurns& turns)
        : turns_(turns)
    {
    }
    void forget() override { messages_.clear(); }
    Result<Tokens> ask(const std::string& line) override
    {
        messages_.push_back({ "user", line });
        auto prompt = promptOf(turns_, messages_);
        if (!prompt.ok())
            messages_.pop_back();
        return prompt;
    }
    void keep(const std::string& answer) override { messages_.push_back({ "assistant", answer }); }

private:
    const ChatTurns& turns_;
    std::vector<ChatMessage> messages_;
};

/// One text that both go on with.
class PlainTalk : public Talk {
public:
    PlainTalk(const LoadedRun& run, const TaskOptions& options)
        : tokenizer_(*run.tokenizer)
        , special_(readsSpecial(run, options))
        , text_(options.prompt == "\n" ? "" : options.prompt)
    {
    }
    void forget() override { text_.clear(); }
    Result<Tokens> ask(const std::string& line) override
    {
        text_ += line + "\n";
        return encoded(tokenizer_, text_, special_);
    }
    void keep(const std::string& answer) override { text_ += answer + "\n"; }

private:
    const Tokenizer& tokenizer_;
    bool special_;
    std::string text_;
};

} // namespace

/// Each line of stdin is a turn. A model with a chat template answers in it, until what ends a turn there; another one
/// goes on with the text until end-of-text or an empty line; both until the number of tokens. "/reset" forgets the
/// conversation, "/quit" or the end of the input ends it.
Result<nlohmann::json> chatTask(
    const TaskOptions& options, const TaskOutput& output, const std::function<bool()>& stopRequested)
{
    FURROW_TRY_ASSIGN(auto run, loadRun(options));
    auto* model = run.learner->model();
    if (!model)
        return kNoText;
    FURROW_TRY_ASSIGN(const auto turns, turnsOf(run));
    SampleOptions sample = sampleOptions(options);
    sample.stopTokens = { run.tokenizer->endOfText() };
    std::unique_ptr<Talk> talk = std::make_unique<PlainTalk>(run, options);
    if (turns) {
        endAs(*turns, sample);
        talk = std::make_unique<TemplateTalk>(*turns);
    }
    const std::string whose = run.newest ? " (" + whoseWeights(*run.newest) + ")" : Message();
    output(run.checkpoint + whose
        + (turns ? ". Write a line and the model answers in its chat format; /reset forgets, /quit ends.\n> "
                 : ". Write a line and the model goes on; /reset forgets, /quit ends.\n> "));
    std::int64_t asked = 0;
    for (std::string line; !stopRequested() && std::getline(std::cin, line) && line != "/quit"; output("\n> ")) {
        if (line == "/reset") {
            talk->forget();
            continue;
        }
        if (const auto unknown = unknownCharacters(line, *run.tokenizer); !unknown.empty())
            output(sentence("(The tokenizer has nothing for: %1)", { joined(unknown) }) + "\n");
        const auto prompt = talk->ask(line);
        if (!prompt.ok()) {
            output(prompt.error().message);
            continue;
        }
        ++sample.seed;
        ++asked;
        TextStream text(*run.tokenizer, output, turns ? turns->endText() : "\n\n");
        auto tokens = sampleText(
            *model, prompt.value(), sample, [&](std::int64_t token) { return text.add(token) && !stopRequested(); });
        if (!tokens.ok())
            return tokens.error();
        text.finish();
        talk->keep(text.text());
    }
    output("\n");
    return nlohmann::json { { "checkpoint", run.checkpoint }, { "weights", weightsJson(run) }, { "turns", asked } };
}

} // namespace furrow
