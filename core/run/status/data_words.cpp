#include "core/run/status/data_words.h"

#include "core/base/sentence.h"
#include "core/run/status/row_fates.h"

#include <algorithm>

namespace furrow {

std::int64_t rowsKnown(const std::vector<EpochRow>& epochs, std::int64_t RowCounts::* count)
{
    std::int64_t most = 0;
    for (const EpochRow& epoch : epochs)
        most = std::max(most, epoch.rowsKnown.*count);
    return most;
}

std::vector<Message> dataInWords(const RunStatus& status)
{
    std::vector<Message> said;
    for (const LeftOutPart& part : status.leftOut)
        said.push_back(part.what);
    const auto say = [&said](std::int64_t count, const Message& one, const Message& many) {
        if (count > 0)
            said.push_back(count == 1 ? one : many);
    };
    const std::int64_t unreadable = rowsKnown(status.epochs, &RowCounts::failed);
    const DataNotes& data = status.data;
    if (!data.firstUnreadable.empty())
        say(unreadable, sentence("1 row cannot be used: %1.", { data.firstUnreadable }),
            sentence("%1 rows cannot be used; the first: %2.", { Count(unreadable), data.firstUnreadable }));
    say(data.repeats, sentence("1 sample has the text of one before it in its block, and is trained all the same."),
        sentence("%1 samples have the text of one before them in their block, and are trained all the same.",
            { Count(data.repeats) }));
    say(data.invalidUtf8, sentence("1 sample has bytes or escapes that are not characters."),
        sentence("%1 samples have bytes or escapes that are not characters.", { Count(data.invalidUtf8) }));
    said.insert(said.end(), status.file.evaluationNotes.begin(), status.file.evaluationNotes.end());
    if (status.reading)
        for (Message& words : exclusionsInWords(*status.reading))
            said.push_back(std::move(words));
    if (status.reading && status.reading->untrainedTexts > 0)
        said.push_back(textsWithoutARowInWords(status.reading->untrainedTexts));
    const std::int64_t tooLong = status.reading ? status.reading->tooLong : 0;
    if (status.file.config.longSamples == LongSamples::Cut)
        say(tooLong, sentence("1 sample is longer than a window; its end is cut off and not trained."),
            sentence(
                "%1 samples are longer than a window; their ends are cut off and not trained.", { Count(tooLong) }));
    const std::int64_t lost = status.reading ? status.reading->tooLongLost : 0;
    if (status.file.config.longSamples == LongSamples::Cut)
        say(lost,
            sentence(
                "1 of them is left out whole, among the filtered ones: the cut takes all that would be learnt of it."),
            sentence(
                "%1 of them are left out whole, among the filtered ones: the cut takes all that would be learnt of them.",
                { Count(lost) }));
    if (status.file.config.longSamples == LongSamples::LeaveOut)
        say(tooLong, sentence("1 sample is longer than a window and is left out, among the filtered ones."),
            sentence(
                "%1 samples are longer than a window and are left out, among the filtered ones.", { Count(tooLong) }));
    return said;
}

} // namespace furrow
