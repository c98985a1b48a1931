#include "core/run/audit/proven_parts.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/run/audit/proven_rows.h"

#include <algorithm>
#include <set>

namespace furrow {

namespace {

/// "0-48", or "-" for none.
std::string rangesOf(const WindowsByChunk& windows, ChunkId chunk)
{
    const auto found = windows.find(chunk);
    return found == windows.end() ? "-" : encodeRanges(found->second);
}

} // namespace

Covered coveredBy(const std::vector<Part>& parts)
{
    Covered covered;
    for (const Part& part : parts)
        (part.skipped ? covered.leftOut : covered.trained)[part.chunk].push_back(part.windows);
    for (auto* windows : { &covered.trained, &covered.leftOut })
        for (auto& [chunk, ranges] : *windows)
            if (auto joined = normalized(ranges))
                ranges = std::move(*joined);
            else
                covered.twice = chunk;
    return covered;
}

std::optional<ChunkId> firstDifference(const Covered& manifest, const Covered& ledger)
{
    if (manifest.twice || ledger.twice)
        return manifest.twice ? manifest.twice : ledger.twice;
    std::set<ChunkId> chunks;
    for (const auto* windows : { &manifest.trained, &ledger.trained, &manifest.leftOut })
        for (const auto& [chunk, ranges] : *windows)
            chunks.insert(chunk);
    const auto of = [](const WindowsByChunk& windows, ChunkId chunk) {
        return windows.contains(chunk) ? windows.at(chunk) : WindowRanges {};
    };
    for (const ChunkId chunk : chunks)
        if (of(manifest.trained, chunk) != of(ledger.trained, chunk)
            || !contains(of(ledger.leftOut, chunk), of(manifest.leftOut, chunk)))
            return chunk;
    return std::nullopt;
}

Message differenceInWords(ChunkId chunk, const std::string& folder, const Covered& byManifest, const Covered& byLedger)
{
    return sentence("%1: checkpoint %2 trained windows %3 by its manifest and %4 by the tracker",
        { toString(chunk), folder, rangesOf(byManifest.trained, chunk), rangesOf(byLedger.trained, chunk) });
}

Result<Message> differenceFromManifests(const RunPaths& paths, const std::string& runId, LedgerReader& ledger)
{
    FURROW_TRY_ASSIGN(const auto rows, ledger.checkpoints());
    const FoldersById folders = foldersOf(rows);
    for (const auto& row : rows) {
        if (!row.surviving || !isPlainName(row.record.folder))
            continue;
        const auto manifest = readKeptManifest(paths, row.record.folder);
        if (!manifest.content.ok() && manifest.content.error().code == ErrorCode::Io)
            return manifest.content.error();
        if (!manifest.content.ok() || manifest.sha256 != row.record.manifestSha256)
            continue;
        if (auto differs = rowDifference(row, manifest.content.value(), manifest.file, runId, folders);
            !differs.empty())
            return differs;
        FURROW_TRY_ASSIGN(const auto parts, ledger.partsOf(row.id));
        const Covered byManifest = coveredBy(manifest.content.value().parts);
        const Covered byLedger = coveredBy(parts);
        if (const auto chunk = firstDifference(byManifest, byLedger))
            return differenceInWords(*chunk, row.record.folder, byManifest, byLedger);
    }
    return Message();
}

} // namespace furrow
