#include "core/run/status/held_out_loss.h"

#include "core/base/sentence.h"

namespace furrow {

namespace {

Message ofOneStep(const HeldOutLoss& evaluation, const Message& facts)
{
    const Count tokens(evaluation.text.labels);
    if (evaluation.text.labels == 0)
        return sentence("of weights with 1 step; %1", { facts });
    if (evaluation.text.arePairs)
        return evaluation.text.alsoTrained
            ? sentence(
                  "of weights with 1 step, on %1 pairs that are trained too, for the data is too small to hold any out; %2",
                  { tokens, facts })
            : sentence("of weights with 1 step, on %1 held-out pairs of answers; %2", { tokens, facts });
    return evaluation.text.alsoTrained
        ? sentence(
              "of weights with 1 step, on %1 tokens that are trained too, for the data is too small to hold text out; %2",
              { tokens, facts })
        : sentence("of weights with 1 step, on %1 tokens of held-out text; %2", { tokens, facts });
}

} // namespace

Message ofWhat(const HeldOutLoss& evaluation)
{
    Message facts;
    if (evaluation.checkpoint != 0)
        facts += sentence("checkpoint %1", { std::to_string(evaluation.checkpoint) }) + ", ";
    if (evaluation.superseded)
        facts += sentence("not the newest weights") + ", ";
    if (evaluation.beforeEndOf)
        facts += sentence("before the end of epoch %1", { std::to_string(*evaluation.beforeEndOf + 1) }) + ", ";
    facts += evaluation.whose;
    const Count step(evaluation.step);
    const Count tokens(evaluation.text.labels);
    if (evaluation.step == 1)
        return ofOneStep(evaluation, facts);
    if (evaluation.text.labels == 0)
        return sentence("of weights with %1 steps; %2", { step, facts });
    if (evaluation.text.arePairs)
        return evaluation.text.alsoTrained
            ? sentence(
                  "of weights with %1 steps, on %2 pairs that are trained too, for the data is too small to hold any out; %3",
                  { step, tokens, facts })
            : sentence("of weights with %1 steps, on %2 held-out pairs of answers; %3", { step, tokens, facts });
    return evaluation.text.alsoTrained
        ? sentence(
              "of weights with %1 steps, on %2 tokens that are trained too, for the data is too small to hold text out; %3",
              { step, tokens, facts })
        : sentence("of weights with %1 steps, on %2 tokens of held-out text; %3", { step, tokens, facts });
}

Message inWords(const PairMarks& pairs)
{
    if (pairs.pairs == 0)
        return {};
    return sentence("margin %1, the chosen answer is preferred in %2 % of %3 held-out pairs",
        { Real(pairs.margin, 4), Real(100 * pairs.preferred, 1), Count(pairs.pairs) });
}

Message inWords(const TaskAnswers& answers)
{
    const TaskMarks& marks = answers.marks;
    const auto percent = [](double share) { return Real(100 * share, 1); };
    const double normalised = static_cast<double>(marks.rightNormalised) / static_cast<double>(marks.questions);
    const Message right = marks.isMultipleChoice()
        ? sentence("accuracy %1 %, by length %2 %, where guessing gets %3 %",
              { percent(marks.share()), percent(normalised), percent(marks.chance) })
        : sentence("exact match %1 %", { percent(marks.share()) });
    const Message whose
        = answers.merged ? sentence("the merge") : sentence("replica %1", { std::to_string(answers.replica) });
    return sentence("%1; of %2 questions, by weights with %3 steps, %4",
        { right, Count(marks.questions), Count(answers.step), whose });
}

} // namespace furrow
