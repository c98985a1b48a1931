#include "core/run/status/data_wait.h"

#include "core/base/sentence.h"
#include "core/run/status/feeder_words.h"

#include <algorithm>

namespace furrow {

bool isNothingToTrain(const std::vector<EpochRow>& epochs)
{
    return std::all_of(epochs.begin(), epochs.end(), [](const EpochRow& epoch) {
        return epoch.closedWallNs || epoch.chunks[ChunkState::Free] + epoch.chunks[ChunkState::Leased] == 0;
    });
}

void sayThatItWaitsForData(RunStatus& status)
{
    if (status.state != RunState::Running || !status.reading)
        return;
    const auto outage = dataOutage(status.reading->doing);
    if (!outage)
        return;
    DataWait wait { *outage };
    wait.trainsOn = !isNothingToTrain(status.epochs);
    const std::vector<Argument> values { WallTime(wait.sinceWallNs), wait.why, Real(wait.nextTrySeconds, 0) };
    if (wait.sinceWallNs == 0)
        wait.sentence = wait.trainsOn
            ? sentence("The data cannot be read; what is prepared of it is trained meanwhile: %1", { wait.why })
            : sentence("The run waits for its data, and trains nothing meanwhile: %1", { wait.why });
    else
        wait.sentence = wait.trainsOn
            ? sentence(
                  "The data cannot be read since %1; what is prepared of it is trained meanwhile: %2. Next try in %3 s.",
                  values)
            : sentence(
                  "The run waits for its data since %1, and trains nothing meanwhile: %2. Next try in %3 s.", values);
    status.evidence.insert(status.evidence.begin(), wait.sentence);
    if (!wait.trainsOn && !status.hindrance)
        status.hindrance = { sentence("waiting for its data"), wait.sentence };
    status.dataWait = std::move(wait);
}

} // namespace furrow
