#include "core/tracker/lost_causes.h"

#include "core/base/sentence.h"
#include "core/tracker/ledger_reader.h"

namespace furrow {

void LostCauses::add(bool isLeftBehind, bool isByGoingBack)
{
    ++(!isLeftBehind ? died : isByGoingBack ? wentBack : damaged);
}

LostCauses& LostCauses::operator+=(const LostCauses& more)
{
    died += more.died;
    wentBack += more.wentBack;
    damaged += more.damaged;
    return *this;
}

LostCauses lostCauses(std::span<const ClaimRow> trainings)
{
    LostCauses causes;
    for (const ClaimRow& claim : trainings)
        if (claim.outcome == ClaimEnd::Lost)
            causes.add(claim.isLeftBehind, claim.wentBack);
    return causes;
}

std::vector<Message> inWords(const LostCauses& causes)
{
    std::vector<Message> words;
    const auto say = [&words](std::int64_t n, const Message& one, const Message& many) {
        if (n > 0)
            words.push_back(n == 1 ? one : many);
    };
    say(causes.died, sentence("1 as its worker ended before a checkpoint had it"),
        sentence("%1 as their workers ended before a checkpoint had them", { Count(causes.died) }));
    say(causes.wentBack, sentence("1 as the run went back to an older checkpoint"),
        sentence("%1 as the run went back to an older checkpoint", { Count(causes.wentBack) }));
    say(causes.damaged, sentence("1 as the checkpoint that had it was damaged, gone or left out of a merge"),
        sentence("%1 as the checkpoints that had them were damaged, gone or left out of a merge",
            { Count(causes.damaged) }));
    return words;
}

} // namespace furrow
