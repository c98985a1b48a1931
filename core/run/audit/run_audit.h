#pragma once

#include "core/run/folder/run_paths.h"
#include "core/tracker/audit/audit.h"

namespace furrow {

enum class AuditDepth {
    Quick, ///< the ledger alone; the report says that the weights were not inspected
    Files, ///< and the newest weights, all manifests behind them, the prepared blocks, by their hashes
    Deep, ///< and every checkpoint that is there, and the source once more, row by row
};

/// The proof of the ledger (core/tracker/audit/audit.h), and that the files are what it speaks of. What is missing or
/// cannot be read is said as that: it is neither whole nor damaged. Writes nothing into the run. Works on a running
/// one: its tracker is copied to where temporary files lie and read there, rows are read in short transactions, files
/// outside of them, and what the run itself takes away meanwhile is no fault. Fails where there is no ledger to read,
/// and when stopped.
Result<AuditReport> auditRun(const RunPaths& paths, AuditDepth depth, const AuditWatch& watch = {});

} // namespace furrow
