#include "core/run/start/start_at.h"

#include "core/base/format.h"
#include "core/base/sentence.h"
#include "core/data/block_manager.h"

namespace furrow {

namespace {

std::string lastOf(std::int64_t count) { return std::to_string(count - 1); }

} // namespace

Message startProblem(const ChunkName& start, std::optional<std::int64_t> blocks, std::optional<std::int64_t> chunks)
{
    const std::string named = std::to_string(start.block) + ":" + std::to_string(start.column);
    if (blocks && start.block >= *blocks)
        return sentence(
            "%1 is %2, but the data has the blocks 0 to %3.", { settingTerm("start_at"), named, lastOf(*blocks) });
    if (chunks && start.column >= *chunks)
        return sentence("%1 is %2, but block %3 has the chunks 0 to %4.",
            { settingTerm("start_at"), named, std::to_string(start.block), lastOf(*chunks) });
    return {};
}

Result<std::vector<ConfigProblem>> startProblems(const RunConfig& config, const DataInspection& data,
    const std::shared_ptr<const Tokenizer>& tokenizer, const std::filesystem::path& cacheFolder)
{
    const auto start = parseChunkName(config.startAt);
    if (!start || !data.rowsExact)
        return std::vector<ConfigProblem> {};
    FURROW_TRY_ASSIGN(
        auto blocks, BlockManager::open(config, data.manifest, data.samplesPerBlock, cacheFolder, tokenizer));
    std::int64_t known = 0;
    Message problem;
    while (known <= start->block && problem.empty() && !blocks.planningFillsCache()) {
        FURROW_TRY_ASSIGN(auto next, blocks.planNext());
        if (!next)
            problem = startProblem(*start, known, std::nullopt);
        else if (known++ == start->block)
            problem = startProblem(*start, std::nullopt, std::ssize(next->chunkRows));
    }
    if (problem.empty())
        return std::vector<ConfigProblem> {};
    return std::vector<ConfigProblem> { { "start_at", problem, "" } };
}

} // namespace furrow
