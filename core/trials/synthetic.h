#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <filesystem>

namespace furrow {

/// What an invented run is like. The same values give the same bytes on every machine.
struct SyntheticRun {
    std::uint64_t seed = 1;
    int workers = 3;
    std::int64_t steps = 46'005; ///< optimiser steps of all workers, redone ones not counted
    int attempts = 2; ///< each but the last ends in a crash; the next one redoes the steps after its checkpoint
    double redoneShare = 0.014; ///< of an attempt's steps, lost by its crash
    int spikes = 3;
    int notANumbers = 1;
    int infinities = 1;
    int duplicates = 20; ///< step lines written twice
    int stepsPerChunk = 32;
    int chunksPerBlock = 25;
    std::int64_t stepTokens = 122'880;
    double stepSeconds = 0.9;
    std::int64_t startWallNs = 1'773'396'000'000'000'000; ///< 2026-03-13T10:00:00Z
};

struct SyntheticTotals {
    std::int64_t lines = 0;
    std::int64_t stepLines = 0; ///< with redone ones and duplicates
    std::int64_t duplicates = 0;
    std::uint64_t bytes = 0;
};

/// InvalidArgument: too few or too many workers, attempts or steps.
Status checkSynthetic(const SyntheticRun& run);
/// Writes <folder>/<attempt>-w<worker>.jsonl as a real run would. For benchmarks and tests, which need no ledger
/// beside it (core/trials/synthetic_run.h).
Result<SyntheticTotals> writeSyntheticTelemetry(const std::filesystem::path& folder, const SyntheticRun& run);

} // namespace furrow
