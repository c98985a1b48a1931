#pragma once

#include "core/run/run_paths.h"
#include "core/tracker/audit.h"

#include <functional>
#include <stop_token>

namespace furrow {

enum class AuditDepth {
    Quick, ///< the ledger alone; the report says that the weights were not inspected
    Files, ///< and the newest weights, all manifests behind them, the prepared blocks, by their hashes
    Deep, ///< and every checkpoint that is there, and the source once more, row by row
};

struct AuditProgress {
    std::string doing; ///< a sentence, for people
    double fraction = 0; ///< of that, 0..1
};

/// How somebody who waits takes part. Called on the thread of the audit.
struct AuditWatch {
    std::stop_token stop; ///< ends the audit with Cancelled, inside a large file too
    std::function<void(const AuditProgress&)> say; ///< may be empty
};

/// The proof of the ledger (core/tracker/audit.h), and that the files are what it speaks of. What is missing or cannot be read is said as
/// that: it is neither whole nor damaged. Writes nothing into the run. Works on a running one: rows are read in short transactions, files
/// outside of them, and what the run itself takes away meanwhile is no fault. Fails where there is no ledger to read, and when stopped.
Result<AuditReport> auditRun(const RunPaths& paths, AuditDepth depth, const AuditWatch& watch = {});

} // namespace furrow
