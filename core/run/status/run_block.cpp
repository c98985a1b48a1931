#include "core/run/status/run_block.h"

#include "core/base/sentence.h"
#include "core/data/block_manager.h"
#include "core/run/folder/run_links.h"

namespace furrow {

namespace {

/// A block that was made again may be of a source that has changed, or of a transfer that went wrong the first time.
Result<PreparedBlock> asItWasTrained(Result<PreparedBlock> block, const LedgerReader::BlockRow& row)
{
    if (block.ok() && !row.digest.empty() && block.value().digest() != row.digest)
        return Error { ErrorCode::Corrupt,
            sentence(
                "Block %1 was prepared again and has other content than what the run was given, which is there no more: its text cannot be shown. `furrowctl audit RUN --deep` says what the source has.",
                { std::to_string(row.block) }) };
    return block;
}

} // namespace

Result<PreparedBlock> openBlockOf(const RunPaths& paths, const RunFile& file, const LedgerReader::BlockRow& row,
    std::shared_ptr<const Tokenizer> tokenizer)
{
    const auto folder = BlockManager::blockFolder(paths.cacheFolder());
    if (!row.fileName.empty()) {
        auto block = PreparedBlock::open(folder / row.fileName);
        if (block.ok())
            return asItWasTrained(std::move(block), row);
    }
    FURROW_TRY_ASSIGN(auto plan, BlockManager::fromPlan(row.plan));
    FURROW_TRY(refuseLinks(paths)); // making a block may evict others
    FURROW_TRY_ASSIGN(auto blocks,
        BlockManager::open(file.config, file.dataManifest, file.samplesPerBlock, paths.cacheFolder(),
            std::move(tokenizer), paths.duplicatesFile()));
    FURROW_TRY_ASSIGN(auto made, blocks.prepare(plan));
    return asItWasTrained(blocks.openBlock(made), row);
}

} // namespace furrow
