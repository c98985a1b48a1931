#pragma once

#include "core/tracker/sqlite/database.h"

#include <cstdint>
#include <map>

namespace furrow {

/// Steps that the replica of each worker process had made when the process began, by its number in the ledger. Claims
/// and parts count the steps of their process from 1; telemetry, charts, exports and logs count those of the replica,
/// which are that much further. A process that died before its first checkpoint is taken to have begun with the newest
/// surviving one of its replica. One that is not there began with none.
std::map<std::int64_t, std::int64_t> stepsBeforeProcesses(Database& db);

/// Steps of the replica of a worker process, as telemetry counts them.
struct ProcessSteps {
    std::int64_t before = 0; ///< when the process began: stepsBeforeProcesses()
    std::int64_t saved = 0; ///< in its newest checkpoint; without one the same
};
std::map<std::int64_t, ProcessSteps> stepsOfProcesses(Database& db); ///< by its number in the ledger

} // namespace furrow
