#include "core/telemetry/task_marks.h"

#include <cmath>

namespace furrow {

namespace {

double shareOf(std::int64_t right, std::int64_t questions)
{
    return static_cast<double>(right) / static_cast<double>(questions);
}

/// Of a share, for as many questions drawn at random.
double standardError(double share, std::int64_t questions)
{
    return questions > 1 ? std::sqrt(share * (1 - share) / static_cast<double>(questions - 1)) : 0;
}

} // namespace

double TaskMarks::share() const { return shareOf(right, questions); }

std::vector<NamedMark> namedMarks(const TaskMarks& marks)
{
    if (marks.questions == 0)
        return {};
    const double share = marks.share();
    const double error = standardError(share, marks.questions);
    if (!marks.isMultipleChoice())
        return { { "exact_match", share }, { "standard_error", error } };
    const double normalised = shareOf(marks.rightNormalised, marks.questions);
    return { { "accuracy", share }, { "standard_error", error }, { "accuracy_normalised", normalised },
        { "standard_error_normalised", standardError(normalised, marks.questions) }, { "chance", marks.chance } };
}

} // namespace furrow
