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
        if (positions_[s].atEnd || givenUp_.contains(static_cast<int>(s)))
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

/// Takes one row into the block; false: the source has no more.
Result<bool> BlockPlanner::takeRow(int source, SourcePosition& at, Building& building)
{
    const auto& files = manifest_.sources[static_cast<std::size_t>(source)].files;
    while (at.file < static_cast<std::int32_t>(files.size())) {
        if (rules_.choice.isBehindEnd(at.row))
            break;
        const auto& file = files[static_cast<std::size_t>(at.file)];
        if (leftOut_.contains(file.path)
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

Result<std::optional<PlannedBlock>> BlockPlanner::planBlock(int source)
{
    SourcePosition at = positions_[static_cast<std::size_t>(source)];
    Building building;
    building.block.block = nextBlock_;
    building.block.source = source;
    for (std::int64_t rows = 0; rows < rules_.samplesPerBlock && building.blockBytes < kMaxBlockBytes; ++rows) {
        auto more = takeRow(source, at, building);
        if (!more.ok()) {
            failed_ = { source,
                manifest_.sources[static_cast<std::size_t>(source)].files[static_cast<std::size_t>(at.file)].path };
            return more.error();
        }
        if (!more.value())
            break;
    }
    positions_[static_cast<std::size_t>(source)] = at;
    if (building.chunkRows == 0)
        return std::optional<PlannedBlock> {};
    building.block.chunkRows.push_back(building.chunkRows);
    building.block.plan = writePlan(building.block, positions_);
    ++nextBlock_;
    return std::optional<PlannedBlock>(std::move(building.block));
}

Status BlockPlanner::resumeAfter(const std::string& plan)
{
    FURROW_TRY_ASSIGN(auto read, readPlan(plan));
    const auto& after = read.after;
    bool fits = after.size() == positions_.size();
    for (std::size_t s = 0; fits && s < after.size(); ++s)
        fits = after[s].file >= 0 && after[s].file <= static_cast<std::int32_t>(manifest_.sources[s].files.size())
            && (after[s].atEnd || after[s].file < static_cast<std::int32_t>(manifest_.sources[s].files.size()));
    if (!fits)
        return Error { ErrorCode::Corrupt,
            sentence("The last block plan of this run does not fit its data manifest.") };
    positions_ = after;
    nextBlock_ = read.block.block + 1;
    return {};
}

void BlockPlanner::giveSourceUp(const Message& reason)
{
    const auto& files = manifest_.sources[static_cast<std::size_t>(failed_.source)].files;
    const auto failed
        = std::find_if(files.begin(), files.end(), [this](const DataFile& file) { return file.path == failed_.path; });
    const auto behind = failed == files.end() ? 0 : files.end() - failed - 1;
    givenUp_[failed_.source] = behind == 0 ? reason
        : behind == 1
        ? sentence("%1 The file behind it, %2, was not read.", { withFullStop(reason), files.back().path })
        : sentence("%1 The %2 files behind it, from %3 on, were not read.",
              { withFullStop(reason), Count(behind), (failed + 1)->path });
}

bool BlockPlanner::nextFillsCache() const
{
    const int source = chooseSource();
    if (source < 0)
        return false;
    const auto& files = manifest_.sources[static_cast<std::size_t>(source)].files;
    const auto file = static_cast<std::size_t>(positions_[static_cast<std::size_t>(source)].file);
    return file < files.size() && fillsCache(files[file]);
}

std::string BlockPlanner::unprovenReason() const
{
    std::string reason;
    for (std::size_t s = 0; s < positions_.size(); ++s) {
        if (positions_[s].atEnd)
            continue;
        const auto& source = manifest_.sources[s];
        if (const auto up = givenUp_.find(static_cast<int>(s)); up != givenUp_.end()) {
            reason += (reason.empty() ? "" : ", ") + up->second;
            continue;
        }
        reason += reason.empty() ? "reading file " : ", file ";
        reason += std::to_string(positions_[s].file + 1) + " of " + std::to_string(source.files.size());
        if (manifest_.sources.size() > 1)
            reason += " of " + source.spec;
    }
    return reason;
}

} // namespace furrow
