#pragma once

#include "core/run/folder/run_file.h"
#include "core/run/folder/run_paths.h"

#include <cstdint>

namespace furrow {

/// How much text an epoch has, judged from what the run froze: bytes of the files and tokens per byte of the held-out
/// text. The same in every process and after every resume, so that what is derived from it is. Compressed files count
/// by the usual ratio.
struct EpochLength {
    double labels = 0; ///< 0: not known
    double labelsPerSample = 0;
    double bytesPerSample = 0;
    double windowFill = 1; ///< share of the places of a window that are labels: the rest is padding of a packing
};
EpochLength epochLength(const RunPaths& paths, const RunFile& file);

/// Labels that the run trains until its rules end it, all workers together: the length of a schedule that is to reach
/// its end. Steps at the edges of chunks are shorter than others, so a number of steps is less than so many full ones.
/// @param epochs  that the rules allow in the end (StoppingRules::epochs): stop_after_epoch counts from the epoch in
/// which an attempt began; 0: no limit
/// @param ranks  workers that make one step together
/// @return 0: no rule says, or the data does not tell
double labelsOfRun(const RunConfig& config, const EpochLength& epoch, std::int64_t samplesPerBlock, std::int64_t epochs,
    std::int64_t ranks);

} // namespace furrow
