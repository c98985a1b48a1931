#pragma once

#include "core/trials/storm/storm_run.h"

#include <functional>

namespace furrow {

/// What an act did. `kills`: processes of the run that it ended.
struct StormDeed {
    std::string text; ///< one sentence for the log
    int kills = 0;
    std::string problem; ///< a promise that was broken; "": none
    /// How long the fault itself keeps workers waiting that it does not hit [s]: a lock that is held so long, say.
    /// Nothing: they are not measured, because a person asked for the wait or the clock jumped.
    std::optional<double> holdsSeconds = 0;
};

/// One kind of fault. An act needs a run that is held by its supervisor.
struct StormAct {
    const char* name;
    const char* help;
    int weight; ///< among acts of its kind
    bool kills; ///< it ends at least one process
    std::function<StormDeed(StormRun&, Random&)> perform;
};

/// Every act but the fail points, which are in core/base/fail_point.h.
const std::vector<StormAct>& stormActs();

/// Starts an attempt in which one process dies at the named place. `reached` says whether one did.
StormDeed performFailPoint(
    StormRun& run, Random& random, const std::string& name, const std::filesystem::path& marker, bool& reached);

} // namespace furrow
