#include "core/run/order_check.h"

#include "core/base/sentence.h"
#include "core/tracker/order_facts.h"

namespace furrow {

TrackerConfig orderConfig(const RunConfig& config)
{
    TrackerConfig tracker;
    tracker.seed = static_cast<std::uint64_t>(config.seed);
    tracker.shuffleWindowBlocks = config.shuffleWindowBlocks;
    tracker.linearOrder = !config.shuffle;
    tracker.startAt = config.startAt;
    tracker.windowTokens = config.seqLen;
    return tracker;
}

Status checkOrder(const RunFile& file, LedgerReader& reader)
{
    FURROW_TRY_ASSIGN(auto found, reader.orderFacts());
    auto began = orderFacts(orderConfig(file.config));
    if (!found.contains("window_tokens"))
        began.erase("window_tokens"); // a version that counted in proportion kept none
    for (const auto& [key, value] : found)
        began.try_emplace(key);
    for (const auto& [key, value] : began)
        if (const auto& now = found[key]; now != value)
            return Error { ErrorCode::InvalidArgument,
                sentence(
                    "the tracker was changed from outside: its %1 is '%2', the run began with '%3'. Its chunks would be given out or counted in another way; put an older copy of the tracker back.",
                    { key, now, value }) };
    return {};
}

} // namespace furrow
