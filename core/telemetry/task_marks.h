#pragma once

#include <cstdint>
#include <vector>

namespace furrow {

/// How a model answered the questions of a file (core/data/question_file.h).
struct TaskMarks {
    std::int64_t questions = 0; ///< asked; 0: none
    std::int64_t right = 0;
    std::int64_t rightNormalised = 0; ///< by the length of the choice; of a multiple choice
    double chance = 0; ///< share that guessing gets; 0: the answers are written

    bool isMultipleChoice() const { return chance > 0; }
    const char* kind() const { return isMultipleChoice() ? "multiple_choice" : "written"; }
    /// Of right answers; NaN without questions.
    double share() const;
    bool operator==(const TaskMarks&) const = default;
};

struct NamedMark {
    const char* name;
    double value;
};
/// What is told of them, under the names that every output has: of a multiple choice `accuracy`, `standard_error`,
/// `accuracy_normalised`, `standard_error_normalised` and `chance`, else `exact_match` and `standard_error`. Nothing
/// without questions.
std::vector<NamedMark> namedMarks(const TaskMarks& marks);

} // namespace furrow
