#pragma once

#include "core/base/clock.h"
#include "core/tracker/supervisor_ledger.h"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace furrow {

/// A checkpoint as its own files prove it, without a ledger.
struct ProvenCheckpoint {
    CheckpointRecord record; ///< its parents are named below
    std::vector<std::string> parents; ///< folders
    std::vector<Part> parts; ///< what it adds to them
    std::int64_t writtenWallNs = 0;
    bool whole = false; ///< the weights are there and verified
    bool removed = false; ///< only its manifest is left: the keep policy removed the weights
    std::int64_t incarnation = 0; ///< that wrote it; 0: not said
};

/// What could be put into the ledger again.
struct Rebuilt {
    std::vector<std::string> heads; ///< folders that replicas go on from
    std::int64_t checkpoints = 0; ///< added
    std::int64_t parts = 0;
    std::vector<std::string> leftOut; ///< a sentence for each checkpoint that could not be taken
};

/// A tracker in its own file, made from a snapshot (view.sqlite) that is whole. Fails when `target` exists.
Status adoptSnapshot(const std::filesystem::path& snapshot, const std::filesystem::path& target);

/// Opens all chunks of the epochs up to `epoch`. Every block must be known.
/// @param patience  with others that write; without it 30 s
Status openEpochsUpTo(const std::filesystem::path& tracker, std::int64_t epoch, Patience patience = {});

/// The highest numbers that the run gave already, by the files in its folder: no attempt and no worker process after
/// the repair has one of these again.
struct NumbersUsed {
    std::int64_t attempt = 0;
    std::int64_t incarnation = 0;
};

/// Why a ledger is made again.
enum class RebuildReason { Damaged, Older };

/// Puts proven checkpoints into a ledger that lacks them, and says of those that it has which weights are gone: rows,
/// parents, parts, the states of the chunks and the heads of the replicas. Taken are the newest merge whose whole
/// ancestry is proven, and for each replica its newest checkpoint made from that, as far as no window would be in the
/// weights twice. Nobody else may have the file open. One transaction.
Result<Rebuilt> rebuildLineage(const std::filesystem::path& tracker, std::span<const ProvenCheckpoint> proven,
    RebuildReason why, const NumbersUsed& used = {}, const Clock& clock = systemClock());

} // namespace furrow
