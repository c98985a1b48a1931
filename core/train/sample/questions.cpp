#include "core/base/sentence.h"
#include "core/base/utf8.h"
#include "core/train/sample/questions_torch.h"
#include "core/train/sample/sampler_torch.h"

#include <torch/torch.h>

#include <algorithm>

namespace furrow {

namespace {

using Tokens = std::vector<std::int64_t>;

constexpr std::string_view kWhiteSpace = " \t\r\n\f\v";

std::string trimmed(std::string_view text)
{
    const auto first = text.find_first_not_of(kWhiteSpace);
    return first == std::string_view::npos
        ? std::string()
        : std::string(text.substr(first, text.find_last_not_of(kWhiteSpace) - first + 1));
}

/// Whether the answer, of which this much is written, may still become the right one. What a tokenizer put for half a
/// character may change.
bool mayBecome(std::string_view written, std::string_view right)
{
    constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
    written.remove_prefix(std::min(written.find_first_not_of(kWhiteSpace), written.size()));
    while (written.ends_with(kReplacement))
        written.remove_suffix(kReplacement.size());
    return written.starts_with(right) ? written.find_first_not_of(kWhiteSpace, right.size()) == std::string_view::npos
                                      : right.starts_with(written);
}

class Examination {
public:
    Examination(Model& model, const Tokenizer& tokenizer, const AskOptions& options, const std::function<bool()>& goOn)
        : model_(model)
        , tokenizer_(tokenizer)
        , options_(options)
        , goOn_(goOn)
    {
    }

    void show(const KnownQuestion& question) { shown_ += question.prompt + " " + question.answer + "\n\n"; }

    Result<Answer> choose(const KnownQuestion& question)
    {
        Answer answer { .line = question.line };
        std::vector<double> byCharacter;
        for (const auto& choice : question.choices) {
            FURROW_TRY(checkGoesOn());
            FURROW_TRY_ASSIGN(const double likelihood, logLikelihood(shown_ + question.prompt, " " + choice));
            answer.logLikelihoods.push_back(likelihood);
            byCharacter.push_back(likelihood / static_cast<double>(std::max<std::size_t>(1, countCodePoints(choice))));
        }
        const auto likeliest = [](const std::vector<double>& all) {
            return static_cast<std::size_t>(std::max_element(all.begin(), all.end()) - all.begin());
        };
        answer.chosen = likeliest(answer.logLikelihoods);
        answer.chosenNormalised = likeliest(byCharacter);
        answer.isRight = answer.chosen == question.right;
        answer.isRightNormalised = answer.chosenNormalised == question.right;
        return answer;
    }

    Result<Answer> write(const KnownQuestion& question)
    {
        FURROW_TRY_ASSIGN(const auto prompt, encoded(shown_ + question.prompt));
        SampleOptions sample;
        sample.temperature = 0;
        sample.maxTokens = options_.maxTokens;
        sample.stopTokens = { tokenizer_.endOfText() };
        FURROW_TRY(checkGoesOn());
        const std::string right = trimmed(question.answer);
        std::vector<TokenId> tokens;
        std::string text;
        Status goesOn;
        FURROW_TRY_ASSIGN(const auto drawn, sampleText(model_, prompt, sample, [&](const DrawnToken& next) {
            tokens.push_back(static_cast<TokenId>(next.token));
            text = tokenizer_.decode(tokens);
            const auto begin
                = std::min(text.find_first_not_of(kWhiteSpace), text.size()); // of a line that is not empty
            const auto end = options_.until.empty() ? std::string::npos : text.find(options_.until, begin);
            if (end != std::string::npos)
                text.resize(end);
            goesOn = checkGoesOn();
            return goesOn.ok() && end == std::string::npos && (!options_.onlyMarks || mayBecome(text, right));
        }));
        FURROW_TRY(goesOn);
        Answer answer { .line = question.line };
        answer.written = trimmed(text);
        answer.isRight = answer.written == right;
        return answer;
    }

private:
    Status checkGoesOn() const
    {
        if (!goOn_ || goOn_())
            return {};
        return Error { ErrorCode::Cancelled, sentence("the evaluation was interrupted") };
    }

    /// At least one token: an empty text begins as every text of the training does.
    Result<Tokens> encoded(const std::string& text) const
    {
        std::vector<TokenId> ids;
        FURROW_TRY(options_.matchSpecial ? tokenizer_.encodeMatchingSpecial(text, ids) : tokenizer_.encode(text, ids));
        Tokens tokens(ids.begin(), ids.end());
        if (tokens.empty())
            tokens.push_back(tokenizer_.endOfText());
        return tokens;
    }

    /// Of `answer` behind `context` [nats]. What joins the two belongs to the answer: tokens begin with a space.
    Result<double> logLikelihood(std::string context, std::string answer) const
    {
        const auto end = context.find_last_not_of(kWhiteSpace);
        const std::size_t kept = end == std::string::npos ? 0 : end + 1;
        answer = context.substr(kept) + answer;
        context.resize(kept);
        FURROW_TRY_ASSIGN(const auto head, encoded(context));
        FURROW_TRY_ASSIGN(auto whole, encoded(context + answer));
        if (context.empty())
            whole.insert(whole.begin(), head.front());
        const auto longest = static_cast<std::size_t>(model_.config().contextLength) + 1;
        const std::size_t begin = std::min(head.size(), whole.size() - 1); // of the answer
        const std::size_t cut = whole.size() - std::min(whole.size(), longest);
        const auto all = at::tensor(whole, at::kLong).slice(0, static_cast<std::int64_t>(cut)).unsqueeze(0);
        auto labels = all.slice(1, 1).clone();
        labels.slice(1, 0, static_cast<std::int64_t>(std::max(begin, cut + 1) - cut - 1)).fill_(kIgnoreLabel);
        const auto device = model_.options().device;
        const auto loss = model_.lossSum(all.slice(1, 0, -1).contiguous().to(device), labels.to(device));
        return -loss.sum.item<double>(); // sync: it decides what is chosen
    }

    Model& model_;
    const Tokenizer& tokenizer_;
    const AskOptions& options_;
    const std::function<bool()>& goOn_;
    std::string shown_; ///< questions with their answers
};

double chanceOf(const QuestionFile& file, std::size_t first, std::size_t count)
{
    double chance = 0;
    for (std::size_t i = 0; i < count; ++i)
        chance += 1 / static_cast<double>(file.questions[first + i].choices.size());
    return chance / static_cast<double>(count);
}

Status checkCount(const QuestionFile& file, const AskOptions& options)
{
    if (options.fewShot < static_cast<std::int64_t>(file.questions.size()))
        return {};
    return Error { ErrorCode::InvalidArgument,
        sentence("%1 questions are to be shown with their answers, but there are %2 in all, and none would be left.",
            { std::to_string(options.fewShot), std::to_string(file.questions.size()) }) };
}

} // namespace

Result<Answers> ask(Model& model, const Tokenizer& tokenizer, const QuestionFile& file, const AskOptions& options,
    const std::function<bool()>& goOn)
try {
    FURROW_TRY(checkCount(file, options));
    const torch::NoGradGuard noGrad;
    Examination examination(model, tokenizer, options, goOn);
    const auto first = static_cast<std::size_t>(options.fewShot);
    std::size_t count = file.questions.size() - first;
    if (options.limit > 0)
        count = std::min(count, static_cast<std::size_t>(options.limit));
    for (std::size_t i = 0; i < first; ++i)
        examination.show(file.questions[i]);
    Answers all;
    TaskMarks& marks = all.marks;
    for (std::size_t i = first; i < first + count; ++i) {
        const KnownQuestion& question = file.questions[i];
        auto answer = question.isMultipleChoice() ? examination.choose(question) : examination.write(question);
        if (!answer.ok())
            return answer.error();
        ++marks.questions;
        marks.right += answer.value().isRight ? 1 : 0;
        marks.rightNormalised += answer.value().isRightNormalised ? 1 : 0;
        all.answers.push_back(std::move(answer).value());
    }
    if (file.isMultipleChoice())
        marks.chance = chanceOf(file, first, count);
    return all;
} catch (const c10::Error& e) {
    return Error { ErrorCode::Internal, sentence("asking questions: %1", { e.what_without_backtrace() }) };
}

} // namespace furrow
