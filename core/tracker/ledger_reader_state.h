#pragma once

#include "core/tracker/ledger_reader.h"
#include "core/tracker/replica_steps.h"
#include "core/tracker/sqlite/database.h"

#include <map>
#include <utility>

namespace furrow {

struct LedgerReader::State {
    Database db;
    bool inherits = false; ///< keepsInherited(), asked once
    Error standsInBecause {};
    std::map<std::int64_t, ProcessSteps> processSteps {}; ///< stepsOfProcesses()
    std::pair<std::int64_t, std::int64_t> stepsAreOf {}; ///< the newest process and checkpoint then
    struct PartlyLeftOutThen {
        std::pair<std::int64_t, std::int64_t> of; ///< chunks that are left out, and checkpoints that do not survive
        PartlyLeftOut partly;
    };
    std::map<std::int64_t, PartlyLeftOutThen> partlyLeftOut {}; ///< of closed epochs

    std::vector<ClaimRow> claimsAt(Rows rows);
    ProcessSteps stepsOfProcess(std::int64_t process);
};

/// What was read, or the failure that the database kept meanwhile.
template <typename T> Result<T> answer(Database& db, T value)
{
    FURROW_TRY(db.takeStatus());
    return value;
}

} // namespace furrow
