// sample and chat: text from a checkpoint.

#include "core/train/loop/tasks_torch.h"

#include "core/base/clock.h"
#include "core/base/sentence.h"
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

/// Tokens to text as they come; a code point may need several, so text grows by whole ones.
class TextStream {
public:
    TextStream(const Tokenizer& tokenizer, const TaskOutput& output)
        : tokenizer_(tokenizer)
        , output_(output)
    {
    }
    void add(std::int64_t token)
    {
        tokens_.push_back(static_cast<TokenId>(token));
        const std::string text = tokenizer_.decode(tokens_);
        if (text.size() > shown_.size() && text.compare(0, shown_.size(), shown_) == 0) {
            output_(text.substr(shown_.size()));
            shown_ = text;
        }
    }
    std::string text() const { return tokenizer_.decode(tokens_); }
    std::size_t tokens() const { return tokens_.size(); }

private:
    const Tokenizer& tokenizer_;
    const TaskOutput& output_;
    std::vector<TokenId> tokens_;
    std::string shown_;
};

Result<std::vector<std::int64_t>> encoded(const Tokenizer& tokenizer, const std::string& text)
{
    std::vector<TokenId> ids;
    FURROW_TRY(tokenizer.encode(text, ids));
    std::vector<std::int64_t> tokens(ids.begin(), ids.end());
    if (tokens.empty())
        tokens.push_back(tokenizer.endOfText());
    return tokens;
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
    FURROW_TRY_ASSIGN(const auto prompt, encoded(*run.tokenizer, options.prompt));
    output(options.prompt);
    const std::int64_t began = systemClock().monotonicNs();
    TextStream text(*run.tokenizer, output);
    auto tokens = sampleText(*model, prompt, sampleOptions(options), [&](std::int64_t token) {
        text.add(token);
        return !stopRequested();
    });
    if (!tokens.ok())
        return tokens.error();
    const double seconds = static_cast<double>(systemClock().monotonicNs() - began) / 1e9;
    return nlohmann::json { { "checkpoint", run.checkpoint }, { "weights", weightsJson(run) },
        { "prompt", options.prompt }, { "text", text.text() }, { "tokens", text.tokens() },
        { "tokens_per_s", static_cast<double>(text.tokens()) / std::max(seconds, 1e-9) } };
}

/// Each line of stdin is appended to the conversation, and the model goes on with it until end-of-text, an empty line
/// or the number of tokens. "/reset" forgets the conversation, "/quit" or the end of the input ends it.
Result<nlohmann::json> chatTask(
    const TaskOptions& options, const TaskOutput& output, const std::function<bool()>& stopRequested)
{
    FURROW_TRY_ASSIGN(auto run, loadRun(options));
    auto* model = run.learner->model();
    if (!model)
        return kNoText;
    const auto& tokenizer = *run.tokenizer;
    std::string conversation = options.prompt == "\n" ? "" : options.prompt;
    std::int64_t turns = 0;
    std::string line;
    const std::string whose = run.newest ? " (" + whoseWeights(*run.newest) + ")" : std::string();
    output(run.checkpoint + whose + ". Write a line and the model goes on; /reset forgets, /quit ends.\n> ");
    while (!stopRequested() && std::getline(std::cin, line) && line != "/quit") {
        if (line == "/reset") {
            conversation.clear();
            output("> ");
            continue;
        }
        conversation += line + "\n";
        SampleOptions sample = sampleOptions(options);
        sample.seed += static_cast<std::uint64_t>(turns++);
        sample.stopToken = tokenizer.endOfText();
        TextStream text(tokenizer, output);
        FURROW_TRY_ASSIGN(const auto prompt, encoded(tokenizer, conversation));
        auto tokens = sampleText(*model, prompt, sample, [&](std::int64_t token) {
            text.add(token);
            return !stopRequested() && !text.text().ends_with("\n\n");
        });
        if (!tokens.ok())
            return tokens.error();
        conversation += text.text();
        output("\n> ");
    }
    output("\n");
    return nlohmann::json { { "checkpoint", run.checkpoint }, { "weights", weightsJson(run) }, { "turns", turns } };
}

} // namespace furrow
