#pragma once

#include "core/base/message.h"
#include "core/tracker/ledger_file.h"

namespace furrow {

/// What the feeder of the newest attempt said that it cannot do. Internal to core/tracker.
struct FeederVerdict {
    Message gaveUp; ///< it stopped and a person must decide; "": it did not
    Message planningEnded; ///< why no more blocks will become known although the last one is not proven; "": they
                           ///< will, or it is
};
FeederVerdict loadFeederVerdict(Database& db);
void storeGaveUp(LedgerFile& file, const Message& reason);
void storePlanningEnded(LedgerFile& file, const Message& reason);
/// Another attempt begins: what was away or damaged may have been mended.
void clearFeederVerdict(Database& db);

} // namespace furrow
