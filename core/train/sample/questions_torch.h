#pragma once

#include "core/data/question_file.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/telemetry/task_marks.h"
#include "core/train/model/model_torch.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace furrow {

/// How questions are put, as lm-evaluation-harness puts those of its local tasks: a space stands between question and
/// answer, an empty line between questions.
struct AskOptions {
    std::int64_t fewShot = 0; ///< first questions of the file that stand with their answers before each other one
    std::int64_t limit = 0; ///< ask no more than this; 0: all
    std::int64_t maxTokens = 200; ///< of a written answer
    std::string until = "\n"; ///< ends a written answer; not a part of it
    bool matchSpecial = false; ///< special tokens written in a question are those tokens
    bool onlyMarks = false; ///< a written answer ends as soon as it cannot become the right one
};

/// What the model answered to one question.
struct Answer {
    std::int64_t line = 0; ///< of the file
    bool isRight = false; ///< of a written one: word for word, but for white space around it
    std::vector<double> logLikelihoods {}; ///< [nats] of each choice behind the question
    std::size_t chosen = 0; ///< the likeliest
    std::size_t chosenNormalised = 0; ///< the likeliest for each character of it
    bool isRightNormalised = false;
    std::string written {}; ///< with onlyMarks its beginning, where it is wrong
};

struct Answers {
    std::vector<Answer> answers;
    TaskMarks marks;
};

/// Puts questions to a model, one after the other: choices by their likelihood, else the likeliest text. A question
/// that is longer than the context loses its beginning.
/// @param goOn  asked before each choice and each token; false ends with Cancelled. May be empty.
Result<Answers> ask(Model& model, const Tokenizer& tokenizer, const QuestionFile& file, const AskOptions& options,
    const std::function<bool()>& goOn = {});

} // namespace furrow
