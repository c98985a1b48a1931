#include "core/tracker/audit/lost_work.h"

#include "core/base/sentence.h"
#include "core/base/told.h"
#include "core/tracker/given_up.h"

#include <algorithm>

namespace furrow {

namespace {

/// What the cause says beyond LostCauses: of going back the checkpoint.
Message detailOf(const Message& cause)
{
    const auto values = valuesOf(cause, kLeftByGoingBack);
    if (!values)
        return asSentence(cause);
    return cause.isPlain() ? Message(values->front()) : Message::of({}, cause.arguments());
}

Message joined(const std::vector<Message>& messages)
{
    Message all;
    for (const Message& one : messages)
        all += all.empty() ? one : "; " + one;
    return all;
}

Message becameOf(ChunkState state)
{
    switch (state) {
    case ChunkState::Pending:
    case ChunkState::Free: return sentence("it is to be trained again");
    case ChunkState::Leased: return sentence("it was given out again");
    case ChunkState::Trained: return sentence("it was trained again, and no checkpoint has it yet");
    case ChunkState::Committed: return sentence("it was trained again");
    default: return sentence("it is %1 now", { termOf(state) });
    }
}

} // namespace

void LostWork::add(bool isLeftBehind, const Message& cause)
{
    LostCauses one;
    one.add(isLeftBehind, tells(cause, { kLeftByGoingBack }));
    const auto isOfTheSame = [&one](const Alike& alike) {
        return (alike.count.died > 0) == (one.died > 0) && (alike.count.wentBack > 0) == (one.wentBack > 0);
    };
    auto alike = std::ranges::find_if(trainings_, isOfTheSame);
    if (alike == trainings_.end())
        alike = trainings_.insert(trainings_.end(), Alike {});
    alike->count += one;
    const Message detail = detailOf(cause);
    if (!detail.empty() && std::ranges::find(alike->causes, detail) == alike->causes.end())
        alike->causes.push_back(detail);
}

Message LostWork::inWords(ChunkState state) const
{
    std::vector<Message> reasons;
    for (const Alike& alike : trainings_)
        for (const Message& reason : furrow::inWords(alike.count))
            reasons.push_back(alike.causes.empty() ? reason : sentence("%1 (%2)", { reason, joined(alike.causes) }));
    return sentence(
        "trainings of %1 lost with their weights: %2; %3", { toString(chunk_), joined(reasons), becameOf(state) });
}

} // namespace furrow
