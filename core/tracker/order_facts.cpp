#include "core/tracker/order_facts.h"

namespace furrow {

std::map<std::string, std::string> orderFacts(const TrackerConfig& config)
{
    std::map<std::string, std::string> facts { { "seed", std::to_string(config.seed) },
        { "shuffle_window_blocks", std::to_string(config.shuffleWindowBlocks) },
        { "linear_order", config.linearOrder ? "1" : "0" } };
    if (config.windowTokens > 0)
        facts["window_tokens"] = std::to_string(config.windowTokens);
    if (!config.startAt.empty())
        facts["start_at"] = config.startAt;
    return facts;
}

} // namespace furrow
