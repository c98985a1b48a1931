// sample: text from a checkpoint.

#include "core/base/sentence.h"
#include "core/train/tasks/talk_torch.h"

namespace furrow {

Result<nlohmann::json> sampleTask(
    const TaskOptions& options, const TaskOutput& output, const std::function<bool()>& stopRequested)
{
    FURROW_TRY_ASSIGN(auto run, loadRun(options));
    if (!run.learner->model())
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
    const std::string& asked = options.chat.empty() ? options.prompt : options.chat;
    FURROW_TRY_ASSIGN(
        const auto written, writeText(run, prompt, sample, endText, [&](const std::string& piece, const DrawnToken&) {
            output(piece);
            return !stopRequested();
        }));
    return nlohmann::json { { "checkpoint", run.checkpoint }, { "is_start_weights", isOfStartWeights(run) },
        { "weights", weightsJson(run) }, { "prompt", asked }, { "prompt_tokens", prompt },
        { "unknown_characters", unknownIn(asked, *run.tokenizer) }, { "text", written.text },
        { "ended", written.ended && !stopRequested() }, { "tokens", written.tokens },
        { "tokens_per_s", written.tokensPerSecond } };
}

} // namespace furrow
