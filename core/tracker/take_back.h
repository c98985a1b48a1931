#pragma once

#include "core/tracker/lineage.h"

namespace furrow {

using Heads = decltype(Lineage::heads);

/// Keeps which heads a damaged checkpoint cost, for the day on which its files are found whole (table meta, FORMAT.md).
/// Internal to core/tracker.
void rememberLeft(Database& db, CheckpointId checkpoint, const Heads& before, const Heads& after);
/// A person chose another way: nothing comes back by itself any more.
void forgetAllLeft(Database& db);

/// The checkpoints whose leaving is remembered: a resume may still return to them.
std::vector<CheckpointId> leftBehind(Database& db);

/// Heads and chunks as they were before the checkpoint was marked damaged, which is forgotten then. Nothing, and
/// nothing is changed: a head has moved since, or a chunk was trained again, is in training or was left out; what came
/// in between may be lost itself, so it is remembered on. Call inside a transaction; returns how many chunks are
/// committed again.
std::optional<std::int64_t> returnToLeft(LedgerFile& file, ChunkMoves& moves, CheckpointId checkpoint);

} // namespace furrow
