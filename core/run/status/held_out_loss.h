#pragma once

#include "core/base/message.h"
#include "core/data/plan/held_out.h"
#include "core/telemetry/pair_marks.h"
#include "core/telemetry/task_marks.h"

#include <cstdint>
#include <optional>

namespace furrow {

/// A loss on held-out text, and what it is of.
struct HeldOutLoss {
    double loss = 0; ///< nats per token, or per pair of answers
    std::int64_t step
        = 0; ///< optimiser steps in the weights that were evaluated; in a replay those of the worker itself
    EvaluatedText text; ///< that they were evaluated on
    int replica = 0;
    bool merged = false; ///< of a merge; `replica` means nothing then
    std::int64_t wallNs = 0; ///< when they were evaluated, or saved
    Message whose; ///< a sentence as of whoseWeights()
    std::int64_t checkpoint = 0; ///< number of the one that has them; 0: a worker evaluated them while it trained
    bool superseded = false; ///< newer weights are in a checkpoint, and were not evaluated
    std::optional<std::int64_t> beforeEndOf; ///< the first epoch that they do not have all of, from 0; nothing: of none
    PairMarks pairs {}; ///< where answers were compared; a checkpoint keeps its loss alone
};
/// "of weights with 1,200 steps, on 12,345 tokens of held-out text; checkpoint 7, not the newest weights, before the
/// end of epoch 1, replica 0": what the loss is of, which may be text that is trained too. A sentence.
Message ofWhat(const HeldOutLoss& evaluation);

/// "margin 0.412, preferred in 71.5 % of 200 held-out pairs of answers". A sentence; "" where none were compared.
Message inWords(const PairMarks& pairs);

/// Answers to the questions of the run (setting eval_tasks), and whose they are.
struct TaskAnswers {
    TaskMarks marks;
    std::int64_t step = 0; ///< optimiser steps in the weights that answered
    int replica = 0;
    bool merged = false; ///< of a merge; `replica` means nothing then
    std::int64_t wallNs = 0;
};
/// "accuracy 42.0 %, by length 44.0 %, where guessing gets 25.0 %; of 100 questions, by weights with 1,200 steps,
/// replica 0". A sentence.
Message inWords(const TaskAnswers& answers);

} // namespace furrow
