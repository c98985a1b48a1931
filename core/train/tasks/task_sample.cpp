// sample: text from a checkpoint.

#include "core/base/clock.h"
#include "core/base/sentence.h"
#include "core/train/tasks/talk_torch.h"
#include "core/train/tasks/text_stream.h"

#include <algorithm>

namespace furrow {

Result<nlohmann::json> sampleTask(
    const TaskOptions& options, const TaskOutput& output, const std::function<bool()>& stopRequested)
{
    FURROW_TRY_ASSIGN(auto run, loadRun(options));
    auto* model = run.learner->model();
    if (!model)
        return Error { ErrorCode::InvalidArgument, sentence("the counting model writes no text") };
    SampleOptions sample = sampleOptionsOf(options);
    std::vector<std::int64_t> prompt;
    std::string endText;
    if (options.chat.empty()) {
        FURROW_TRY_ASSIGN(prompt, promptTokens(run, options, options.prompt));
        output(options.prompt);
    } else {
        FURROW_TRY_ASSIGN(const auto turns, turnsOf(run));
        if (!turns)
            return Error { ErrorCode::InvalidArgument,
                sentence("the model of this run has no chat template; go on from a text with --prompt") };
        FURROW_TRY_ASSIGN(prompt, promptTokens(*turns, { { "user", options.chat } }));
        sample.stopTokens.assign(turns->endTokens().begin(), turns->endTokens().end());
        endText = turns->endText();
    }
    const std::int64_t began = systemClock().monotonicNs();
    TextStream text(*run.tokenizer, output, endText);
    bool isOver = false;
    auto tokens = sampleText(*model, prompt, sample, [&](const DrawnToken& next) {
        isOver = !text.add(next.token);
        return !isOver && !stopRequested();
    });
    if (!tokens.ok())
        return tokens.error();
    text.finish();
    const double seconds = static_cast<double>(systemClock().monotonicNs() - began) / 1e9;
    const bool isWhole = isOver || static_cast<std::int64_t>(tokens.value().size()) < sample.maxTokens;
    return nlohmann::json { { "checkpoint", run.checkpoint }, { "weights", weightsJson(run) },
        { "prompt", options.chat.empty() ? options.prompt : options.chat }, { "prompt_tokens", prompt },
        { "unknown_characters", unknownIn(options.chat.empty() ? options.prompt : options.chat, *run.tokenizer) },
        { "text", text.text() }, { "ended", isWhole && !stopRequested() }, { "tokens", text.tokens() },
        { "tokens_per_s", static_cast<double>(text.tokens()) / std::max(seconds, 1e-9) } };
}

} // namespace furrow
