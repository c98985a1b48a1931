#include "core/config/warm_up.h"

#include "core/base/format.h"
#include "core/base/sentence.h"

#include <algorithm>

namespace furrow {

Message warmUpWarning(const RunConfig& c, std::int64_t workers, double tokensOfEpochs)
{
    const bool together = c.parallel == ParallelMode::Data; // one model, so one count of steps
    const double tokensPerStep = static_cast<double>(c.batchSize * c.gradAccum * c.seqLen * (together ? workers : 1));
    double steps = 0; // of all workers
    const auto sooner = [&steps](double limit) {
        if (limit > 0)
            steps = steps > 0 ? std::min(steps, limit) : limit;
    };
    sooner(static_cast<double>(c.steps));
    sooner(static_cast<double>(c.tokens) / tokensPerStep);
    sooner(tokensOfEpochs / tokensPerStep);
    const double own = steps / static_cast<double>(together ? 1 : std::max<std::int64_t>(workers, 1));
    if (steps <= 0 || own >= static_cast<double>(c.warmupSteps))
        return {};
    return sentence(
        "%1 is %2, but each worker does about %3 steps until the run ends: its learning rate would never reach %4. Lower %5, or train longer.",
        { settingTerm("warmup_steps"), std::to_string(c.warmupSteps), Count(static_cast<std::int64_t>(own)),
            settingTerm("lr"), settingTerm("warmup_steps") });
}

} // namespace furrow
