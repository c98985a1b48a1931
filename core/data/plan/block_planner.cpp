#include "core/data/plan/block_planner.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/data/source/cached_access.h"

#include <algorithm>

namespace furrow {

BlockPlanner::BlockPlanner(
    FileAccess& access, const DataManifest& manifest, std::vector<RowOptions> options, const PlanRules& rules)
    : access_(access)
    , manifest_(manifest)
    , options_(std::move(options))
    , rules_(rules)
    , positions_(manifest.sources.size())
    , open_(manifest.sources.size())
{
    for (std::size_t s = 0; s < positions_.size(); ++s)
        positions_[s].atEnd = manifest.sources[s].files.empty();
}

int BlockPlanner::chooseSource() const
{
    int best = -1;
    double bestShare = 0;
    for (std::size_t s = 0; s < positions_.size(); ++s) {
        if (positions_[s].atEnd && gapToTry(static_cast<int>(s)) == nullptr)
            continue;
        const double size = std::max(1.0, static_cast<double>(manifest_.sources[s].sizeBytes()));
        const double share
            = static_cast<double>(positions_[s].bytes) / (rules_.weights.empty() ? size : rules_.weights[s]);
        if (best < 0 || share < bestShare) {
            best = static_cast<int>(s);
            bestShare = share;
        }
    }
    return best;
}

Result<std::optional<PlannedBlock>> BlockPlanner::next()
{
    for (int source = chooseSource(); source >= 0; source = chooseSource()) {
        auto block = planBlock(source);
        if (!block.ok() || block.value().has_value())
            return block;
    }
    return std::optional<PlannedBlock> {};
}

/// The scanner that stands at `at`, opened anew after an error or a jump.
Result<RowScanner*> BlockPlanner::scannerAt(int source, const SourcePosition& at)
{
    auto& open = open_[static_cast<std::size_t>(source)];
    if (!open.scanner || open.at.file != at.file || open.at.rowInFile != at.rowInFile) {
        const auto& file = manifest_.sources[static_cast<std::size_t>(source)].files[static_cast<std::size_t>(at.file)];
        FURROW_TRY_ASSIGN(
            open.scanner, openRowScanner(access_, file, options_[static_cast<std::size_t>(source)], at.position));
        open.at = at;
    }
    return open.scanner.get();
}

void BlockPlanner::addRow(const SourcePosition& at, std::uint64_t sizeBytes, Building& building) const
{
    auto& block = building.block;
    const bool full = building.chunkRows == rules_.chunkSamples
        || (building.chunkRows > 0 && building.chunkBytes + sizeBytes > rules_.chunkBytes);
    if (full) {
        block.chunkRows.push_back(building.chunkRows);
        building.chunkRows = 0;
        building.chunkBytes = 0;
    }
    if (block.segments.empty())
        block.firstRow = at.row;
    const bool goesOn = !block.segments.empty() && block.segments.back().file == at.file
        && block.segments.back().firstRow + block.segments.back().rows == at.rowInFile;
    if (!goesOn)
        block.segments.push_back({ at.file, at.position, at.rowInFile, 0 });
    ++block.segments.back().rows;
    ++building.chunkRows;
    building.chunkBytes += sizeBytes;
    building.blockBytes += sizeBytes;
}

/// The first part of a source that was passed by and may be readable now.
const FileGap* BlockPlanner::gapToTry(int source) const
{
    for (const FileGap& gap : positions_[static_cast<std::size_t>(source)].gaps)
        if (!givenUp_.contains({ source, gap.file }))
            return &gap;
    return nullptr;
}

/// Takes one row into the block; false: there are no more before that file.
Result<bool> BlockPlanner::takeRow(int source, std::int32_t endFile, SourcePosition& at, Building& building)
{
    const auto& files = filesOf(source);
    while (at.file < endFile) {
        if (rules_.choice.isBehindEnd(at.row))
            break;
        const auto& file = files[static_cast<std::size_t>(at.file)];
        if (leftOut_.contains(file.path) || givenUp_.contains({ source, at.file })
            || !rules_.choice.keepsFile(static_cast<std::size_t>(source), static_cast<std::size_t>(at.file))) {
            if (leftOut_.contains(file.path))
                passedBy_.try_emplace(file.path, at.rowInFile);
            at.bytes += file.sizeBytes;
            ++at.file;
            at.position = 0;
            at.rowInFile = 0;
            continue;
        }
        FURROW_TRY_ASSIGN(auto scanner, scannerAt(source, at));
        std::uint64_t size = 0;
        auto more = scanner->next(size);
        if (!more.ok()) {
            open_[static_cast<std::size_t>(source)].scanner.reset();
            return more.error();
        }
        if (!more.value()) {
            open_[static_cast<std::size_t>(source)].scanner.reset();
            ++at.file;
            at.position = 0;
            at.rowInFile = 0;
            continue;
        }
        const bool chosen
            = rules_.choice.keeps(static_cast<std::size_t>(source), static_cast<std::size_t>(at.file), scanner->unit());
        const bool wanted = chosen && !rules_.choice.isBeforeStart(at.row);
        if (wanted) {
            addRow(at, size, building);
            auto& hash = building.block.segments.back().hash;
            hash = scanner->hash(hash);
        }
        at.position = scanner->position();
        ++at.rowInFile;
        at.row += chosen ? 1 : 0;
        at.bytes += size;
        open_[static_cast<std::size_t>(source)].at = at;
        if (wanted)
            return true;
    }
    at.atEnd = true;
    return false;
}

Status BlockPlanner::takeRows(int source, std::int32_t endFile, SourcePosition& at, Building& building)
{
    building.block.block = nextBlock_;
    building.block.source = source;
    for (std::int64_t rows = 0; rows < rules_.samplesPerBlock && building.blockBytes < kMaxBlockBytes; ++rows) {
        auto more = takeRow(source, endFile, at, building);
        if (!more.ok()) {
            failed_ = { source, at.file, filesOf(source)[static_cast<std::size_t>(at.file)].path };
            return more.error();
        }
        if (!more.value())
            break;
    }
    return {};
}

/// With the positions that hold after it; nullopt: no row came into it.
std::optional<PlannedBlock> BlockPlanner::finished(Building building)
{
    if (building.chunkRows == 0)
        return std::nullopt;
    building.block.chunkRows.push_back(building.chunkRows);
    building.block.plan = writePlan(building.block, positions_);
    ++nextBlock_;
    return std::move(building.block);
}

Result<std::optional<PlannedBlock>> BlockPlanner::planBlock(int source)
{
    if (const FileGap* gap = gapToTry(source))
        return planGap(source, FileGap(*gap));
    SourcePosition at = positions_[static_cast<std::size_t>(source)];
    Building building;
    FURROW_TRY(takeRows(source, static_cast<std::int32_t>(filesOf(source).size()), at, building));
    positions_[static_cast<std::size_t>(source)] = std::move(at);
    return finished(std::move(building));
}

/// A block of what is left of one file that planning had passed by. Its rows are numbered as those behind all that is
/// planned.
Result<std::optional<PlannedBlock>> BlockPlanner::planGap(int source, const FileGap& gap)
{
    auto& position = positions_[static_cast<std::size_t>(source)];
    SourcePosition at = position;
    at.file = gap.file;
    at.position = gap.position;
    at.rowInFile = gap.rowInFile;
    Building building;
    FURROW_TRY(takeRows(source, gap.file + 1, at, building));
    position.row = at.row;
    position.bytes = at.bytes;
    const auto mine = std::find(position.gaps.begin(), position.gaps.end(), gap);
    if (at.file > gap.file || at.atEnd)
        position.gaps.erase(mine);
    else
        *mine = { gap.file, at.position, at.rowInFile };
    return finished(std::move(building));
}

Status BlockPlanner::resumeAfter(const std::string& plan)
{
    FURROW_TRY_ASSIGN(auto read, readPlan(plan));
    const auto& after = read.after;
    bool fits = after.size() == positions_.size();
    for (std::size_t s = 0; fits && s < after.size(); ++s)
        fits = after[s].file >= 0 && after[s].file <= static_cast<std::int32_t>(manifest_.sources[s].files.size())
            && (after[s].atEnd || after[s].file < static_cast<std::int32_t>(manifest_.sources[s].files.size()));
    for (std::size_t s = 0; fits && s < after.size(); ++s)
        fits = std::all_of(after[s].gaps.begin(), after[s].gaps.end(), [&](const FileGap& gap) {
            return gap.file >= 0 && gap.file < static_cast<std::int32_t>(manifest_.sources[s].files.size())
                && gap.rowInFile >= 0;
        });
    if (!fits)
        return Error { ErrorCode::Corrupt,
            sentence("The last block plan of this run does not fit its data manifest.") };
    positions_ = after;
    nextBlock_ = read.block.block + 1;
    return {};
}

void BlockPlanner::giveFileUp(const Message& reason)
{
    auto& position = positions_[static_cast<std::size_t>(failed_.source)];
    const bool isKnown = std::any_of(
        position.gaps.begin(), position.gaps.end(), [this](const FileGap& gap) { return gap.file == failed_.file; });
    if (!isKnown) // the block that failed may have begun in a file before
        position.gaps.push_back(position.file == failed_.file
                ? FileGap { failed_.file, position.position, position.rowInFile }
                : FileGap { failed_.file, 0, 0 });
    givenUp_[{ failed_.source, failed_.file }] = reason;
}

bool BlockPlanner::nextFillsCache() const
{
    const int source = chooseSource();
    if (source < 0)
        return false;
    const auto& files = manifest_.sources[static_cast<std::size_t>(source)].files;
    const FileGap* gap = gapToTry(source);
    const auto file
        = static_cast<std::size_t>(gap != nullptr ? gap->file : positions_[static_cast<std::size_t>(source)].file);
    return file < files.size() && fillsCache(files[file]);
}

std::string BlockPlanner::unprovenReason() const
{
    std::string reason;
    for (std::size_t s = 0; s < positions_.size(); ++s) {
        const auto& source = manifest_.sources[s];
        for (const FileGap& gap : positions_[s].gaps) {
            const auto up = givenUp_.find({ static_cast<int>(s), gap.file });
            reason += (reason.empty() ? "" : ", ")
                + (up != givenUp_.end() ? up->second
                                        : "the rest of " + source.files[static_cast<std::size_t>(gap.file)].path);
        }
        if (positions_[s].atEnd)
            continue;
        reason += reason.empty() ? "reading file " : ", file ";
        reason += std::to_string(positions_[s].file + 1) + " of " + std::to_string(source.files.size());
        if (manifest_.sources.size() > 1)
            reason += " of " + source.spec;
    }
    return reason;
}

} // namespace furrow
