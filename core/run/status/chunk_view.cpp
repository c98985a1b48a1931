#include "core/run/status/chunk_view.h"

#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/data/block/chunk_windows.h"
#include "core/data/block_manager.h"
#include "core/data/plan/duplicate_index.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/run/folder/frozen_config.h"
#include "core/run/folder/run_file.h"
#include "core/run/status/run_block.h"
#include "core/run/status/run_status.h"
#include "core/run/status/samples_left_out.h"
#include "core/tracker/left_out_samples.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace furrow {

namespace {

/// The chunk as the epoch has it. What the run does not have is a wrong question: the answer says what it has.
Result<ChunkCell> cellOf(LedgerReader& ledger, const ChunkPart& part)
{
    FURROW_TRY_ASSIGN(const auto epochs, ledger.epochs());
    if (epochs.empty() || epochs.front().knownBlocks == 0)
        return Error { ErrorCode::InvalidArgument,
            sentence("The run knows no chunk of its data yet: the first block is read when it trains.") };
    const auto isAsked = [&part](const EpochRow& epoch) { return !part.epoch || epoch.epoch == *part.epoch; };
    if (std::none_of(epochs.begin(), epochs.end(), isAsked))
        return Error { ErrorCode::InvalidArgument,
            sentence("The run has no epoch %1: it has begun %2 so far.",
                { std::to_string(*part.epoch + 1), std::to_string(epochs.size()) }) };
    const bool isPlace
        = part.block >= 0 && part.block < kMaxBlocks && part.column >= 0 && part.column < kMaxChunksPerBlock;
    // A newer epoch may not have come to the block yet.
    for (const auto epoch : { part.epoch.value_or(epochs.back().epoch), epochs.front().epoch }) {
        auto cell = isPlace ? ledger.cell(chunkIdOf({ epoch, part.block, part.column }))
                            : Result<ChunkCell>(Error { ErrorCode::NotFound, {} });
        if (cell.ok() || cell.error().code != ErrorCode::NotFound)
            return cell;
    }
    return Error {
        ErrorCode::InvalidArgument,
        sentence("The run has no chunk %1:%2: it knows the blocks 0 to %3 so far.",
            { std::to_string(part.block), std::to_string(part.column), std::to_string(epochs.front().knownBlocks - 1) })
    };
}

/// As status counts what is trained of a chunk that is not committed.
Result<std::int64_t> inCheckpoints(const LedgerReader& ledger, const ChunkCell& cell)
{
    if (cell.state == ChunkState::Committed || cell.covered == 0)
        return 0;
    FURROW_TRY_ASSIGN(const auto skipped, skippedChunks(ledger.file()));
    return trainedPart(cell, windowsSkippedOf(skipped, cell.id)).samples;
}

Result<std::vector<SampleLoss>> lossesOf(LedgerReader& ledger, const ChunkPart& part)
{
    if (part.epoch)
        return ledger.sampleLosses(chunkIdOf({ *part.epoch, part.block, part.column }));
    FURROW_TRY_ASSIGN(auto epochs, ledger.epochs());
    for (auto epoch = epochs.rbegin(); epoch != epochs.rend(); ++epoch)
        if (auto losses = ledger.sampleLosses(chunkIdOf({ epoch->epoch, part.block, part.column }));
            !losses.ok() || !losses.value().empty())
            return losses;
    return std::vector<SampleLoss> {};
}

/// The path of each file of the data set, counted through its sources.
std::vector<std::string> pathsOf(const DataManifest& manifest)
{
    std::vector<std::string> paths;
    for (const auto& source : manifest.sources)
        for (const auto& file : source.files)
            paths.push_back(file.path);
    return paths;
}

/// Where the first row with the text of each repeat stands. Where that is not known any more, the samples are shown
/// without it.
void nameFirstRows(const RunPaths& paths, const DataManifest& manifest, std::vector<SampleView>& samples)
{
    const bool hasRepeats = std::any_of(
        samples.begin(), samples.end(), [](const SampleView& one) { return (one.flags & SampleRepeat) != 0; });
    if (!manifest.skipsAllDuplicates || !hasRepeats)
        return;
    const auto index = DuplicateIndex::open(paths.duplicatesFile());
    if (!index.ok()) {
        logWarning(index.error().message);
        return;
    }
    const auto files = pathsOf(manifest);
    for (SampleView& sample : samples) {
        if ((sample.flags & SampleRepeat) == 0)
            continue;
        const auto first = index.value().firstOf(sample.fingerprint);
        if (first.ok() && first.value() && first.value()->file < std::ssize(files))
            sample.firstRow = SampleRow { files[static_cast<std::size_t>(first.value()->file)], first.value()->row };
    }
}

/// What is learnt of a sample, in its decoded text.
std::vector<ChatStretch> learntOf(const ChunkText& text, std::size_t sample, const Tokenizer& tokenizer)
{
    std::vector<ChatStretch> learnt;
    const std::uint64_t first = text.offsets[sample];
    const auto placeOf = [&](std::uint64_t token) {
        return tokenizer.decode(std::span(text.tokens).subspan(first, token - first)).size();
    };
    bool before = false;
    for (std::uint64_t token = first; !text.learnt.empty() && token <= text.offsets[sample + 1]; ++token) {
        const bool now = token < text.offsets[sample + 1] && text.learnt[token] != 0;
        if (now && !before)
            learnt.push_back({ placeOf(token), 0 });
        if (before && !now)
            learnt.back().end = placeOf(token);
        before = now;
    }
    return learnt;
}

/// Indices of the stored samples, in the order asked for.
std::vector<std::int64_t> ordered(std::int64_t stored, const std::vector<SampleLoss>& losses, SampleOrder order)
{
    std::vector<std::int64_t> first;
    if (order != SampleOrder::AsStored)
        for (const SampleLoss& one : losses)
            first.push_back(one.sample);
    if (order == SampleOrder::LowestLoss)
        std::reverse(first.begin(), first.end());
    std::vector<std::int64_t> all(static_cast<std::size_t>(stored));
    std::iota(all.begin(), all.end(), 0);
    const auto place = [&](std::int64_t sample) { return std::find(first.begin(), first.end(), sample); };
    std::stable_sort(all.begin(), all.end(), [&](std::int64_t a, std::int64_t b) { return place(a) < place(b); });
    return all;
}

} // namespace

Result<ChunkView> viewChunk(const RunPaths& paths, const ChunkPart& part)
{
    FURROW_TRY_ASSIGN(auto file, readRunFile(paths));
    FURROW_TRY_ASSIGN(auto manifest, readManifest(file.dataManifest));
    FURROW_TRY_ASSIGN(auto tokenizer, tokenizerOfRun(paths, file));
    FURROW_TRY_ASSIGN(auto ledger, openLedger(paths));
    FURROW_TRY_ASSIGN(const auto cell, cellOf(ledger, part));
    FURROW_TRY_ASSIGN(auto row, ledger.block(part.block));
    FURROW_TRY_ASSIGN(auto block, openBlockOf(paths, file, row, tokenizer));
    FURROW_TRY_ASSIGN(auto chunk, block.readChunk(part.column));
    const ChunkText& text = chunk;
    const auto source = static_cast<std::size_t>(row.source);
    FURROW_TRY_ASSIGN(auto losses, lossesOf(ledger, part));
    ChunkView view { part.block, part.column, block.summary(part.column), text.count(), cell.state,
        isLeftToParent(cell), !losses.empty(), {}, unreadableRowsOf(block, part.block, row.plan, manifest) };
    std::erase_if(view.unreadable, [&part](const UnreadableRow& one) { return one.column != part.column; });
    FURROW_TRY_ASSIGN(view.inCheckpoints, inCheckpoints(ledger, cell));
    const bool isOfPairs = file.config.objective == Objective::Dpo && !text.learnt.empty();
    const auto order = ordered(text.count(), losses, part.order);
    const auto first = std::clamp<std::int64_t>(part.first, 0, text.count());
    for (const std::int64_t i : std::span(order).subspan(static_cast<std::size_t>(first),
             static_cast<std::size_t>(std::clamp<std::int64_t>(part.count, 0, text.count() - first)))) {
        const auto at = static_cast<std::size_t>(i);
        const auto ids = std::span(text.tokens).subspan(text.offsets[at], text.offsets[at + 1] - text.offsets[at]);
        SampleView sample { i, "", text.rows[at], text.fingerprints[at], text.flags[at], { ids.begin(), ids.end() },
            tokenizer->decode(ids), learntOf(text, at, *tokenizer), {}, {}, isOfPairs ? pairMiddle(text, at) : 0 };
        for (const SampleLoss& one : losses)
            if (one.sample == i)
                sample.loss = one.loss;
        const auto fileIndex = static_cast<std::size_t>(text.files[at]);
        if (source < manifest.sources.size() && fileIndex < manifest.sources[source].files.size())
            sample.file = manifest.sources[source].files[fileIndex].path;
        view.samples.push_back(std::move(sample));
    }
    nameFirstRows(paths, manifest, view.samples);
    return view;
}

} // namespace furrow
