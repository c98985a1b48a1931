#include "core/run/supervise/start_words.h"

#include "core/base/sentence.h"

#include <algorithm>
#include <string>

namespace furrow {

namespace {

Message startsTogether(const std::vector<AwaitedStart>& starts)
{
    const auto planned
        = std::find_if(starts.begin(), starts.end(), [](const AwaitedStart& start) { return !start.isStarted; });
    return planned != starts.end()
        ? sentence("The workers are started again, together, at %1, once all of them have ended.",
              { WallTime(planned->wallNs) })
        : sentence("The workers were started together at %1; not all of them have begun yet.",
              { WallTime(starts.front().wallNs) });
}

Message inWords(const AwaitedStart& start)
{
    const std::string worker = std::to_string(start.worker);
    return start.isStarted
        ? sentence("Worker %1 was started at %2 and has not begun yet.", { worker, WallTime(start.wallNs) })
        : sentence("Worker %1 is started again at %2.", { worker, WallTime(start.wallNs) });
}

} // namespace

Message startsInWords(const std::vector<AwaitedStart>& starts, bool together)
{
    if (together && !starts.empty())
        return startsTogether(starts);
    Message words;
    for (const AwaitedStart& start : starts)
        words += (words.empty() ? "" : " ") + inWords(start);
    return words;
}

} // namespace furrow
