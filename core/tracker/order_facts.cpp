#include "core/tracker/order_facts.h"

#include "core/tracker/ledger_file.h"

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

Result<std::map<std::string, std::string>> readOrderFacts(const std::filesystem::path& tracker)
{
    FURROW_TRY_ASSIGN(auto db, openForReading(tracker));
    std::map<std::string, std::string> facts;
    {
        Rows rows = db.query(
            "SELECT key, value FROM meta WHERE key IN ('seed', 'shuffle_window_blocks', 'linear_order', 'start_at', 'window_tokens')");
        while (rows.next())
            facts[rows.text(0)] = rows.text(1);
    }
    FURROW_TRY(db.takeStatus());
    return facts;
}

} // namespace furrow
