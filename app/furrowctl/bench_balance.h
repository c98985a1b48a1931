#pragma once

#include <filesystem>
#include <vector>

namespace furrow::ctl {

/// What `furrowctl bench balance` trains: one epoch of the counting model, whose steps only take time, in a folder of
/// its own.
struct BalanceOptions {
    std::vector<double> stepMs = { 20, 20, 60 }; ///< of each worker
    int chunks = 210;
    std::filesystem::path folder; ///< the run is made below it and removed at the end
    bool json = false;
};

/// Trains it and prints the chunks of each worker, how long it stood idle before the last chunks were given out and at
/// the end of the epoch, and how long claims kept it waiting. Returns the exit code.
int benchBalance(const BalanceOptions& options);

} // namespace furrow::ctl
