#include "core/data/plan/fraction_draw.h"

#include "core/base/sentence.h"
#include "core/data/source/distant_source.h"
#include "core/data/source/row_choice.h"
#include "core/data/source/row_reader.h"

#include <algorithm>
#include <cmath>

namespace furrow {

namespace {

constexpr std::int64_t kManyUnits = 20'000; ///< of so many any draw takes nearly the fraction
constexpr std::int64_t kMostTries = 4'000'000; ///< of a unit in a draw
constexpr std::uint64_t kReadBytes = 16ull
    << 20; ///< of text that is read to find its units; of more any draw comes near
constexpr std::size_t kMostFooters = 32; ///< of Parquet that is far away
constexpr double kNear = 0.01; ///< of the fraction

/// Stretches of a file of which the text stands as it is: by its size alone.
void addByBytes(const DataFile& file, std::size_t number, std::vector<DrawnUnit>& units)
{
    const std::uint64_t size = unitBytes(file);
    for (std::uint64_t begin = 0; begin < file.sizeBytes; begin += size)
        units.push_back({ number, begin / size, static_cast<double>(std::min(size, file.sizeBytes - begin)) });
}

Status addByRows(FileAccess& access, const DataFile& file, std::size_t number, const RowOptions& options,
    std::vector<DrawnUnit>& units)
{
    FURROW_TRY_ASSIGN(auto scanner, openRowScanner(access, file, options, 0));
    for (std::uint64_t size = 0; std::ssize(units) < kManyUnits;) {
        FURROW_TRY_ASSIGN(const bool more, scanner->next(size));
        if (!more)
            break;
        const std::uint64_t unit = scanner->unit();
        if (units.empty() || units.back().file != number || units.back().unit != unit)
            units.push_back({ number, unit, 0 });
        units.back().weight += 1;
    }
    return {};
}

} // namespace

bool FractionDraw::isFar(double fraction) const
{
    constexpr double kFar = 0.1;
    return units > 0 && std::abs(share - fraction) > kFar * fraction;
}

Result<FractionDraw> nearestDraw(
    const RunConfig& config, const DataManifest& manifest, std::size_t source, const std::vector<DrawnUnit>& units)
{
    if (units.empty() || std::ssize(units) >= kManyUnits)
        return FractionDraw {};
    double all = 0;
    for (const DrawnUnit& unit : units)
        all += unit.weight;
    const RowChoice choice(config, manifest);
    std::optional<FractionDraw> nearest;
    const std::int64_t most = std::max<std::int64_t>(1, kMostTries / std::ssize(units));
    for (std::int64_t draw = 0; draw < most; ++draw) {
        FractionDraw one { static_cast<std::uint64_t>(draw), std::ssize(units), 0 };
        for (const DrawnUnit& unit : units)
            if (choice.draws(source, unit.file, unit.unit, one.draw))
                one.share += unit.weight / all;
        // By their ratio: of two stretches with 1 and 299 rows a third is the second one.
        const auto distance
            = [&config](const FractionDraw& of) { return std::abs(std::log(of.share / config.fraction)); };
        if (one.share > 0 && (!nearest || distance(one) < distance(*nearest)))
            nearest = one;
        if (nearest && distance(*nearest) <= kNear)
            break;
    }
    if (nearest)
        return *nearest;
    return Error { ErrorCode::InvalidArgument,
        sentence(
            "A fraction of %1 takes nothing of %2: it is drawn in whole stretches of the files, of which there are %3. Take a larger fraction, or max_samples.",
            { std::to_string(config.fraction), manifest.sources[source].spec, Count(std::ssize(units)) }) };
}

Result<std::vector<DrawnUnit>> unitsToDraw(
    FileAccess& access, const RunConfig& config, const DataManifest& manifest, std::size_t source)
{
    std::vector<DrawnUnit> units;
    const DataSource& from = manifest.sources[source];
    const RowOptions options = rowOptions(config, from);
    const bool choosesFiles = RowChoice(config, manifest).choosesFiles(source);
    std::uint64_t read = 0;
    for (std::size_t f = 0; f < from.files.size() && std::ssize(units) < kManyUnits; ++f) {
        const DataFile& file = from.files[f];
        const bool isFar = isDistantPath(file.path);
        const bool isParquet = file.format.format == TextFormat::Parquet;
        if (choosesFiles) {
            units.push_back({ f, 0, static_cast<double>(file.sizeBytes) });
            continue;
        }
        constexpr std::uint64_t kExpansion = 4; // what a compressed file is taken to hold
        read += isParquet ? 0 : file.sizeBytes * (file.isCompressed() ? kExpansion : 1);
        const bool isSeekable
            = !isParquet && file.isStoredPlain(); // else what is drawn is read from its beginning anyway
        if (isParquet ? !isFar || from.files.size() <= kMostFooters : !(isFar && isSeekable) && read <= kReadBytes)
            FURROW_TRY(addByRows(access, file, f, options, units));
        else if (isSeekable)
            addByBytes(file, f, units);
        else
            return std::vector<DrawnUnit> {};
    }
    return units;
}

} // namespace furrow
