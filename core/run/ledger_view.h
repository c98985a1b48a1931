#pragma once

#include "core/run/run_paths.h"
#include "core/tracker/ledger_reader.h"

#include <string>

namespace furrow {

/// Why another computer may be training the run while this one only looks at its folder (it is mounted or synchronised), or "".
std::string seenFromElsewhereReason(const RunPaths& paths);
/// The file that shows the ledger to a reader: the tracker, or the snapshot of it that the supervisor publishes where the tracker itself
/// may be written by another computer at this moment (core/DECISIONS.md 22).
std::filesystem::path readableLedger(const RunPaths& paths);
/// Opens that, and the snapshot also where the tracker cannot be opened.
Result<LedgerReader> openLedger(const RunPaths& paths);

} // namespace furrow
