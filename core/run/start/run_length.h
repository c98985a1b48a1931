#pragma once

#include "core/run/folder/run_file.h"
#include "core/run/folder/run_paths.h"

#include <cstdint>

namespace furrow {

struct DataLook;

/// The length that run.json keeps for a run that is being made. What a sample is like tells the held-out text, where
/// there is enough of it, since it comes from all of the data; else the beginning that was looked at.
/// @param rows  of the data, at least about
EpochLength judgedEpochLength(const RunPaths& paths, const RunFile& file, const DataLook& look, std::int64_t rows);

/// The length that run.json keeps; of a run that an earlier Furrow made, judged from the bytes of its files and its
/// held-out text, compressed files by the usual ratio.
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
