// eval --tasks: questions with a known answer.

#include "core/train/tasks/tasks_torch.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/train/sample/questions_torch.h"

namespace furrow {

namespace {

nlohmann::json answerJson(const Answer& answer, const KnownQuestion& question)
{
    if (!question.isMultipleChoice())
        return { { "line", answer.line }, { "written", answer.written }, { "answer", question.answer },
            { "right", answer.isRight } };
    return { { "line", answer.line }, { "log_likelihoods", answer.logLikelihoods }, { "gold", question.right },
        { "chosen", answer.chosen }, { "chosen_normalised", answer.chosenNormalised } };
}

} // namespace

Result<nlohmann::json> questionsTask(
    LoadedRun& run, const TaskOptions& options, const std::function<bool()>& stopRequested)
{
    FURROW_TRY_ASSIGN(const auto file, readQuestions(pathFromUtf8(options.tasks)));
    const AskOptions how { .fewShot = options.fewShot,
        .limit = options.limit,
        .maxTokens = options.tokens,
        .until = options.until,
        .matchSpecial = !run.isRun() };
    FURROW_TRY_ASSIGN(
        auto asked, ask(*run.learner->model(), *run.tokenizer, file, how, [&] { return !stopRequested(); }));
    auto answers = nlohmann::json::array();
    for (std::size_t i = 0; i < asked.answers.size(); ++i)
        answers.push_back(answerJson(asked.answers[i], file.questions[static_cast<std::size_t>(options.fewShot) + i]));
    nlohmann::json result { { "tasks", options.tasks }, { "is_run", run.isRun() }, { "checkpoint", run.checkpoint },
        { "weights", weightsJson(run) }, { "place", run.place }, { "step", run.state.step },
        { "questions", asked.answers.size() }, { "few_shot", options.fewShot }, { "unusable", file.unusable },
        { "first_unusable", file.firstUnusable.text() }, { "answers", std::move(answers) } };
    result["kind"] = asked.marks.kind();
    for (const auto& [name, value] : namedMarks(asked.marks))
        result[name] = value;
    return result;
}

} // namespace furrow
