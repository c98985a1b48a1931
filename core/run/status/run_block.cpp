#include "core/run/status/run_block.h"

#include "core/data/block_manager.h"
#include "core/run/folder/run_links.h"

namespace furrow {

Result<PreparedBlock> openBlockOf(const RunPaths& paths, const RunFile& file, const LedgerReader::BlockRow& row,
    std::shared_ptr<const Tokenizer> tokenizer)
{
    const auto folder = BlockManager::blockFolder(paths.cacheFolder());
    if (!row.fileName.empty()) {
        auto block = PreparedBlock::open(folder / row.fileName);
        if (block.ok())
            return block;
    }
    FURROW_TRY_ASSIGN(auto plan, BlockManager::fromPlan(row.plan));
    FURROW_TRY(refuseLinks(paths)); // making a block may evict others
    FURROW_TRY_ASSIGN(auto blocks,
        BlockManager::open(file.config, file.dataManifest, file.samplesPerBlock, paths.cacheFolder(),
            std::move(tokenizer), paths.duplicatesFile()));
    FURROW_TRY_ASSIGN(auto made, blocks.prepare(plan));
    return blocks.openBlock(made);
}

} // namespace furrow
