#pragma once

#include "core/base/result.h"
#include "core/config/run_config.h"
#include "core/data/source/data_manifest.h"
#include "core/data/source/file_access.h"

namespace furrow {

/// A stretch of a source that a fraction keeps or leaves as a whole.
struct DrawnUnit {
    std::size_t file = 0;
    std::uint64_t unit = 0;
    double weight = 0; ///< rows, or bytes where rows are not known
};

struct FractionDraw {
    std::uint64_t draw = 0; ///< DataSource::fractionDraw
    std::int64_t units = 0; ///< 0: they are not known, or so many that chance comes near enough
    double share = 0; ///< of the weight that is drawn
    /// The share is not what was asked for, by more than a tenth of it.
    bool isFar(double fraction) const;
};

/// The draw of the seed that comes nearest to the fraction, and takes at least one unit. Draw 0, as runs of before had
/// it, where that is near.
/// InvalidArgument: none was found that takes anything.
Result<FractionDraw> nearestDraw(
    const RunConfig& config, const DataManifest& manifest, std::size_t source, const std::vector<DrawnUnit>& units);

/// The units of a source, as far as little has to be read for them; empty where they are not known or are many.
Result<std::vector<DrawnUnit>> unitsToDraw(
    FileAccess& access, const RunConfig& config, const DataManifest& manifest, std::size_t source);

} // namespace furrow
