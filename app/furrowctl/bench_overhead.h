#pragma once

#include <filesystem>
#include <string>

namespace furrow::ctl {

/// What `furrowctl bench overhead` trains: a real run with default settings in a folder of its own.
struct OverheadOptions {
    std::string preset = "char";
    int workers = 2;
    int steps = 0; ///< of all workers; 0: one epoch
    int chunkSamples = 0; ///< 0: as the preset has it
    std::string data; ///< empty: the bundled text
    std::filesystem::path folder; ///< the run is made below it and removed at the end
    bool json = false;
};

/// Trains it and prints where the time of each worker went: what is not training as a share of training. Returns the
/// exit code.
int benchOverhead(const OverheadOptions& options);

} // namespace furrow::ctl
