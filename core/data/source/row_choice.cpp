#include "core/data/source/row_choice.h"

#include "core/base/random.h"
#include "core/data/source/distant_source.h"

#include <algorithm>

namespace furrow {

namespace {

constexpr std::size_t kManyFiles = 32; ///< from here on leaving out whole files comes near enough to a fraction
constexpr int kManyGroups = 32;
constexpr std::uint64_t kPartsOfGroup = 64;
constexpr std::uint64_t kMinUnitBytes = 64 << 10;
constexpr std::uint64_t kMaxUnits = 1024; ///< of one file: each may become an entry of a block's plan

} // namespace

RowChoice::RowChoice(const RunConfig& config, const DataManifest& manifest)
    : fraction_(config.fraction)
    , seed_(static_cast<std::uint64_t>(config.seed))
    , start_(config.startSample)
    , max_(config.maxSamples)
{
    for (const auto& source : manifest.sources) {
        const bool byRanges = source.files.empty() || !isDistantPath(source.files.front().path)
            || source.files.front().format.format == TextFormat::Parquet;
        wholeFiles_.push_back(!byRanges && source.files.size() >= kManyFiles);
        draws_.push_back(source.fractionDraw);
    }
}

bool RowChoice::draws(std::size_t source, std::size_t file, std::uint64_t unit, std::uint64_t draw) const
{
    constexpr std::uint64_t kFraction = 0x6672616374696f6eull; // "fraction": no other draw of the run
    const std::uint64_t hash = draw == 0 ? mixSeed({ seed_, kFraction, source, file, unit })
                                         : mixSeed({ seed_, kFraction, source, file, unit, draw });
    return static_cast<double>(hash >> 11) * 0x1.0p-53 < fraction_;
}

bool RowChoice::keepsFile(std::size_t source, std::size_t file) const
{
    return !hasFraction() || !wholeFiles_[source] || draws(source, file, 0, draws_[source]);
}

bool RowChoice::keeps(std::size_t source, std::size_t file, std::uint64_t unit) const
{
    return !hasFraction() || wholeFiles_[source] || draws(source, file, unit, draws_[source]);
}

std::uint64_t unitBytes(const DataFile& file)
{
    const bool isHere
        = file.format.rules >= 2 && !isDistantPath(file.path); // nothing is saved by leaving out 64 KiB of it
    return std::max(isHere ? 1 : kMinUnitBytes, file.sizeBytes / kMaxUnits);
}

std::uint64_t parquetUnit(int groups, int group, std::uint64_t rowInGroup, std::uint64_t rowsOfGroup)
{
    const std::uint64_t part
        = groups >= kManyGroups ? 0 : rowInGroup * kPartsOfGroup / std::max<std::uint64_t>(1, rowsOfGroup);
    return static_cast<std::uint64_t>(group) * kPartsOfGroup + part;
}

} // namespace furrow
