#include "core/run/audit/untrained_chunks.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/data/block_manager.h"
#include "core/run/status/feeder_meters.h"
#include "core/tracker/each_block.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <utility>

namespace furrow {

namespace {

constexpr std::uint64_t kTableBytes = 64 << 10; // about what opening a block reads

/// Left out, or waiting, before its block was prepared: the ledger says nothing of it yet.
bool saysNothing(const ChunkCell& cell)
{
    const bool isClaimable
        = cell.state == ChunkState::Free || cell.state == ChunkState::Leased || cell.state == ChunkState::Trained;
    return !isClaimable && cell.samples == 0 && cell.tokens == 0 && cell.windows == 0;
}

bool hasContentOf(const ChunkCell& cell, const PreparedChunk& prepared)
{
    return prepared.rows.samples == cell.samples && prepared.tokens == cell.tokens && prepared.windows == cell.windows;
}

/// Nothing: it is not there, is damaged, or is another one than the ledger recorded.
std::optional<PreparedBlock> recordedBlock(const std::filesystem::path& folder, const LedgerReader::BlockRow& row)
{
    if (!isPlainName(row.fileName))
        return std::nullopt;
    auto block = PreparedBlock::open(folder / pathFromUtf8(row.fileName));
    const bool isRecorded = block.ok() && block.value().digest() == row.digest;
    return isRecorded ? std::optional(std::move(block).value()) : std::nullopt;
}

/// Where samples lie end to end the table alone says it.
std::uint64_t costOf(const std::filesystem::path& file, const WindowRules& rules)
{
    std::error_code unknown;
    const auto bytes = std::filesystem::file_size(file, unknown);
    return rules.packing == Packing::EndToEnd || unknown ? kTableBytes : std::max<std::uint64_t>(bytes, kTableBytes);
}

} // namespace

Result<UntrainedChunks> UntrainedChunks::of(LedgerReader& ledger, What what)
{
    FURROW_TRY_ASSIGN(const auto epochs, ledger.epochs());
    UntrainedChunks found;
    found.what_ = what;
    FURROW_TRY_ASSIGN(found.digests_, untrainedDigests(ledger.file()));
    for (const auto& epoch : epochs) {
        if (epoch.closedWallNs)
            continue;
        FURROW_TRY_ASSIGN(const auto cells, ledger.cells(epoch.epoch));
        std::ranges::copy_if(cells, std::back_inserter(found.cells_),
            [](const ChunkCell& cell) { return cell.state != ChunkState::Committed && !saysNothing(cell); });
    }
    std::ranges::stable_sort(found.cells_, {}, &ChunkCell::block);
    return found;
}

bool UntrainedChunks::hasAnyOf(std::int64_t block) const
{
    return std::ranges::binary_search(cells_, block, {}, &ChunkCell::block);
}

void UntrainedChunks::compare(std::int64_t block, const std::vector<PreparedChunk>& prepared)
{
    const auto first = std::ranges::lower_bound(cells_, block, {}, &ChunkCell::block);
    const auto behind = std::ranges::upper_bound(first, cells_.end(), block, {}, &ChunkCell::block);
    for (const ChunkCell& one : std::span(first, behind))
        if (const auto column = static_cast<std::size_t>(one.column);
            column < prepared.size() && !isAsPrepared(one, prepared[column])) // another column: see ChunkPlaces
            differing_.push_back({ one.id, prepared[column] });
}

bool UntrainedChunks::hasFingerprintOf(const ChunkCell& cell, const PreparedChunk& prepared) const
{
    const auto found = std::ranges::lower_bound(digests_, cell.id, {}, &ChunkDigest::first);
    return found == digests_.end() || found->first != cell.id // its block was prepared, or it was trained, meanwhile
        || found->second == prepared.digest;
}

bool UntrainedChunks::isAsPrepared(const ChunkCell& cell, const PreparedChunk& prepared) const
{
    return hasFingerprintOf(cell, prepared) && (what_ == What::Fingerprints || hasContentOf(cell, prepared));
}

Result<std::vector<OtherContent>> UntrainedChunks::differing(LedgerReader& ledger) const
{
    std::vector<OtherContent> still;
    if (differing_.empty())
        return still;
    FURROW_TRY_ASSIGN(const auto now, of(ledger, what_));
    std::map<ChunkId, const ChunkCell*> cells;
    for (const ChunkCell& cell : now.cells_)
        cells[cell.id] = &cell;
    for (const PreparedContent& one : differing_)
        if (const auto cell = cells.find(one.chunk);
            cell != cells.end() && !now.isAsPrepared(*cell->second, one.content))
            still.push_back({ one, what_ == What::Fingerprints || hasContentOf(*cell->second, one.content) });
    return still;
}

Message otherContentInWords(ChunkId chunk, const Message& where)
{
    return sentence(
        "%1: its rows, windows or tokens in %2 are not those that the tracker recorded", { toString(chunk), where });
}

Message otherFingerprintsInWords(ChunkId chunk, const Message& where)
{
    return sentence(
        "%1: the fingerprints of its samples in %2 are not those that the tracker recorded; as a whole the block is what it recorded, so its row of the chunk is wrong",
        { toString(chunk), where });
}

Message inWords(const OtherContent& other, const Message& where)
{
    return other.inFingerprintsAlone ? otherFingerprintsInWords(other.prepared.chunk, where)
                                     : otherContentInWords(other.prepared.chunk, where);
}

Result<std::vector<OtherContent>> differenceFromBlocks(
    const RunPaths& paths, const RunFile& file, LedgerReader& ledger, std::uint64_t mostBytes, BlocksRead* known)
{
    BlocksRead own;
    BlocksRead& read = known != nullptr ? *known : own;
    const auto folder = BlockManager::blockFolder(paths.cacheFolder());
    const WindowRules rules = windowRules(file.config);
    FURROW_TRY_ASSIGN(auto untrained, UntrainedChunks::of(ledger));
    std::uint64_t left = mostBytes;
    const auto look = [&](const LedgerReader::BlockRow& row) -> Status {
        if (!untrained.hasAnyOf(row.block))
            return {};
        auto found = read.chunks.find(row.digest);
        if (found == read.chunks.end()) {
            const auto block = left > 0 ? recordedBlock(folder, row) : std::optional<PreparedBlock>();
            if (!block)
                return {};
            left -= std::min(left, costOf(folder / pathFromUtf8(row.fileName), rules));
            auto prepared = preparedChunks(*block, rules);
            if (!prepared.ok())
                return {};
            found = read.chunks.emplace(row.digest, std::move(prepared).value()).first;
        }
        untrained.compare(row.block, found->second);
        return {};
    };
    FURROW_TRY(forEachBlock(ledger, LedgerReader::Blocks::PreparedOnce, look));
    return untrained.differing(ledger);
}

} // namespace furrow
