#pragma once

#include "core/tracker/incarnations.h"
#include "core/tracker/worker_ledger.h"

namespace furrow {

struct WorkerLedger::State {
    LedgerFile file;
    std::int64_t incarnation = 0; // 0: not started
    std::int32_t replica = 0;
    std::int32_t worker = 0;
    std::int64_t attempt = 0;
    std::int64_t stepTokens = 0; // as in WorkerRegistration
    Durability everyday = Durability::Normal; // of all writes but start, commit and merge
};

/// Optimiser steps of a claim that a surviving checkpoint has already.
std::int64_t committedSteps(Database& db, std::int64_t claim);

/// Takes `steps` out of what the incarnation reserved: they are counted as done now.
void useReservedSteps(LedgerFile& file, ChunkMoves& moves, std::int64_t incarnation, RunState& run, std::int64_t steps);

} // namespace furrow
