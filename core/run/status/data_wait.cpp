#include "core/run/status/data_wait.h"

#include "core/base/sentence.h"
#include "core/run/status/feeder_words.h"

#include <algorithm>

namespace furrow {

namespace {

/// A value of a message, where it is of that type.
template <typename Value> const Value* valueAt(const Message& message, std::size_t place)
{
    return place < message.arguments().size() ? std::get_if<Value>(&message.arguments()[place].value) : nullptr;
}

/// Why and since when, in the parts of kTryingAgainSince; of a message that lost its parts all of it is why.
DataWait waitOf(const Message& doing)
{
    const Message* what = doing.id() == kTryingAgainSince.text() ? valueAt<Message>(doing, 0) : nullptr;
    const WallTime* since = what == nullptr ? nullptr : valueAt<WallTime>(doing, 1);
    const Real* next = what == nullptr ? nullptr : valueAt<Real>(doing, 2);
    if (what == nullptr || since == nullptr || next == nullptr || what->arguments().empty())
        return { doing };
    const Message* inner = valueAt<Message>(*what, 0);
    return { inner != nullptr ? *inner : Message(what->arguments().front().text()), since->ns, next->value };
}

} // namespace

bool isWaitingForData(const Message& doing) { return tells(doing, { kWaitingForData }); }

bool isNothingToTrain(const std::vector<EpochRow>& epochs)
{
    return std::all_of(epochs.begin(), epochs.end(), [](const EpochRow& epoch) {
        return epoch.closedWallNs || epoch.chunks[ChunkState::Free] + epoch.chunks[ChunkState::Leased] == 0;
    });
}

void sayThatItWaitsForData(RunStatus& status)
{
    if (status.state != RunState::Running || !status.reading || !isWaitingForData(status.reading->doing))
        return;
    DataWait wait = waitOf(status.reading->doing);
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
