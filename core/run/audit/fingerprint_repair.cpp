#include "core/run/audit/fingerprint_repair.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/data/block_manager.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/run/folder/frozen_config.h"
#include "core/run/status/ledger_view.h"
#include "core/tracker/chunk_digests.h"
#include "core/tracker/each_block.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace furrow {

namespace {

/// A block with chunks of which the rows have other fingerprints.
struct Suspect {
    LedgerReader::BlockRow row;
    std::vector<ChunkDigest> byBlock; ///< what it has of these chunks
};

/// By prepared blocks that are there and are those that the ledger recorded.
Result<std::vector<Suspect>> suspects(const RunPaths& paths, LedgerReader& ledger)
{
    const auto folder = BlockManager::blockFolder(paths.cacheFolder());
    std::vector<Suspect> found;
    const auto look = [&](const LedgerReader::BlockRow& row) -> Status {
        if (!isPlainName(row.fileName))
            return {};
        auto block = PreparedBlock::open(folder / pathFromUtf8(row.fileName));
        if (!block.ok() || block.value().digest() != row.digest)
            return {};
        FURROW_TRY_ASSIGN(const auto chunks, ledger.committedOf(row.block));
        Suspect suspect { row, {} };
        for (const auto& chunk : chunks)
            if (const int column = static_cast<int>(placeOf(chunk.chunk).column); column < block.value().chunkCount())
                if (const auto digest = block.value().summary(column).digest; digest != chunk.digest)
                    suspect.byBlock.emplace_back(chunk.chunk, digest);
        if (!suspect.byBlock.empty())
            found.push_back(std::move(suspect));
        return {};
    };
    FURROW_TRY(forEachBlock(ledger, LedgerReader::Blocks::PreparedOnce, look));
    return found;
}

/// Whether the source gives the block, and these chunks of it, as its prepared file has them.
bool isProvenBySource(BlockManager& blocks, const Suspect& suspect)
{
    const auto plan = BlockManager::fromPlan(suspect.row.plan);
    if (!plan.ok() || blocks.firstTrouble(plan.value()))
        return false;
    const auto read = blocks.readAgain(plan.value());
    return read.ok() && read.value().digest == suspect.row.digest
        && std::ranges::all_of(suspect.byBlock, [&read](const ChunkDigest& one) {
               const auto column = static_cast<std::size_t>(placeOf(one.first).column);
               return column < read.value().chunks.size() && read.value().chunks[column].digest == one.second;
           });
}

} // namespace

Result<Message> restoreFingerprints(const RunPaths& paths, const RunFile& file)
{
    FURROW_TRY_ASSIGN(auto ledger, openLedger(paths, ReadFor::Long));
    FURROW_TRY_ASSIGN(const auto found, suspects(paths, ledger));
    auto tokenizer = found.empty() ? Result<std::shared_ptr<const Tokenizer>>(Error {}) : tokenizerOfRun(paths, file);
    auto blocks = tokenizer.ok() ? BlockManager::openUnchecked(file.config, file.dataManifest, file.samplesPerBlock,
                                       paths.cacheFolder(), tokenizer.value(), paths.duplicatesFile())
                                 : Result<BlockManager>(tokenizer.error());
    if (!blocks.ok() || blocks.value().needsDuplicates()) // nothing to mend, or to prove it by
        return Message();
    std::vector<ChunkDigest> proven;
    for (const Suspect& one : found)
        if (isProvenBySource(blocks.value(), one))
            proven.insert(proven.end(), one.byBlock.begin(), one.byBlock.end());
    if (proven.empty())
        return Message();
    const auto said = sentence(
        "Rows of trained chunks had other fingerprints of their samples than their blocks, which the source gives as they were recorded; they were taken from these (%1; the first: %2).",
        { Count(std::ssize(proven)), toString(proven.front().first) });
    FURROW_TRY(storeDigests(paths.tracker(), proven, said));
    return said;
}

} // namespace furrow
