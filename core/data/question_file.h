#pragma once

#include "core/base/message.h"
#include "core/base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace furrow {

/// A row of a file of tasks: a question with a known answer.
struct KnownQuestion {
    std::int64_t line = 0; ///< in the file, from 1
    std::string prompt;
    std::vector<std::string> choices; ///< of a multiple choice, in the order of the file; empty: the answer is written
    std::size_t right = 0; ///< index of the right choice
    std::string answer; ///< to be written word by word; of a multiple choice the right one

    bool isMultipleChoice() const { return !choices.empty(); }
};

struct QuestionFile {
    std::vector<KnownQuestion> questions; ///< all of one kind
    std::int64_t unusable = 0; ///< rows that are no such question
    Message firstUnusable; ///< "line 7: ..."; "" without one

    bool isMultipleChoice() const { return !questions.empty() && questions.front().isMultipleChoice(); }
};

/// No file of questions is larger.
inline constexpr std::uint64_t kMostQuestionBytes = 256u << 20;

/// Reads a file with a JSON object in each line, as the local tasks of lm-evaluation-harness have them:
///  - the question in the first there is of `question`, `query`, `prompt`, `context`, `ctx`, `input`;
///  - of a multiple choice the choices in `choices`, `options` or `endings`, as texts or as {"text": [...], "label":
///    [...]}, and the right one in `gold`, `answer`, `label`, `answerKey` or `target`: its place from 0, its label, or
///    its text;
///  - else the answer to be written in `answer`, `target` or `output`.
/// A row that is none of these is counted. InvalidArgument where no row is one, or where the kinds are mixed.
Result<QuestionFile> readQuestions(const std::filesystem::path& path);

} // namespace furrow
