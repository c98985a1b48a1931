#pragma once

#include "core/base/result.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace furrow {

struct StormOptions {
    std::filesystem::path folder; ///< the storm makes a folder of its own below it
    int kills = 200; ///< processes ended, at least
    std::uint64_t seed = 1; ///< the same acts in the same order; when they hit is up to the machine
    std::vector<std::string> only; ///< these acts in turn and no others, no fail points; empty: all
    bool keep = false; ///< leave the run when everything is in order; otherwise it is removed
};

/// What a storm did, and what survived it.
struct StormReport {
    std::filesystem::path run;
    std::map<std::string, int> acts; ///< how often each
    std::map<std::string, bool> failPoints; ///< whether a process died there
    int kills = 0;
    int resumes = 0;
    int manualSteps = 0; ///< times that neither a resume nor the next step that it printed was enough to go on, or that
                         ///< nothing called for that step
    int askedSteps
        = 0; ///< times that a person had to say yes after bytes were really damaged or an older tracker was put back
    std::int64_t epochs = 0;
    std::int64_t chunks = 0; ///< committed, all epochs
    std::int64_t windows = 0; ///< of the counting model
    std::int64_t duplicated = 0;
    std::int64_t missing = 0;
    std::int64_t models = 0; ///< weights that survived: 1
    std::int64_t chunksLost = 0; ///< trainings that died before their checkpoint and were done again
    std::string integrity; ///< SQLite's own check: "ok"
    std::vector<std::string> problems;
    double seconds = 0;
    struct Wait {
        double seconds = 0; ///< for the ledger or data
        double mergeSeconds = 0; ///< at a merge or a checkpoint
    };
    std::map<std::string, Wait> waits; ///< the longest of a worker that an act did not hit
    double longestWait = 0; ///< beyond the time that the fault itself lasted [s]
    std::int64_t outerSteps = 0; ///< of DiLoCo that were compared with what they added to the weights

    bool passed() const;
};

/// One line for each act; no end of line.
using StormLog = std::function<void(const std::string&)>;

/// Trains the counting model with the real programs while processes are killed and files damaged, then lets the run
/// finish and compares what its weights contain with what its ledger says. Takes about a second a kill.
/// @param goOn  asked between acts; false ends the storm with Cancelled
Result<StormReport> runStorm(const StormOptions& options, const StormLog& log, const std::function<bool()>& goOn);

nlohmann::json toJson(const StormReport& report);
std::string stormText(const StormReport& report);
/// Acts and fail points with their meaning, one a line.
std::string listStorm();

} // namespace furrow
