#include "core/run/status/data_evidence.h"

#include "core/base/sentence.h"
#include "core/run/folder/attempt_config.h"
#include "core/run/status/ledger_view.h"
#include "core/tracker/named_chunks.h"

#include <algorithm>

namespace furrow {

void sayWhatTheFeederDoes(RunStatus& status, const Message& doing)
{
    const bool lives = isUnderWay(status.state);
    if (lives && !doing.empty() && !status.reading)
        status.reading = Reading {};
    if (status.reading && !lives)
        status.reading->doing = {};
    else if (status.reading && !doing.empty() && !(status.reading->doing == doing)) // the same is there with its parts
        status.reading->doing = doing;
}

void nameLeftOut(RunStatus& status, const LedgerReader& ledger, const std::vector<AttemptRow>& attempts)
{
    constexpr std::int64_t kMost = 10;
    const auto leavesOut = [&status](const AttemptRow& row) {
        const auto config = configOf(row, status.file.config);
        return config.ok() && config.value().badFiles == BadFiles::LeaveOut;
    };
    const bool chosen
        = status.file.config.badFiles == BadFiles::LeaveOut || std::any_of(attempts.begin(), attempts.end(), leavesOut);
    auto leftOut = chosen ? leftOutOfTheData(ledger.file(), kMost)
                          : Result<std::vector<LeftOutPart>>(std::vector<LeftOutPart> {});
    if (leftOut.ok())
        status.leftOut = std::move(leftOut).value();
}

void sayHowDataIsRead(RunStatus& status)
{
    if (!status.reading)
        return;
    if (status.reading->dropped > 0)
        status.evidence.push_back(sentence(
            "%1 characters of the text prepared so far have no token and are dropped: the tokenizer has no unknown token that would stand for them.",
            { Count(status.reading->dropped) }));
    else if (status.reading->unknownShare > 0)
        status.evidence.push_back(
            sentence("%1 % of the tokens prepared so far stand for characters that the vocabulary does not have.",
                { Real(100 * status.reading->unknownShare, 2) }));
    if (!status.reading->encodingDoubt.empty())
        status.evidence.push_back(status.reading->encodingDoubt);
    for (auto& words : comparedInWords(status.reading->hub))
        status.evidence.push_back(std::move(words));
}

} // namespace furrow
