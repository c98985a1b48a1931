#pragma once

#include "core/data/block/chunk_windows.h"
#include "core/data/block_manager.h"
#include "core/data/data_alarms.h"
#include "core/run/status/reading.h"
#include "core/telemetry/writer.h"
#include "core/tracker/feeder_ledger.h"
#include "core/tracker/ledger_reader.h"

namespace furrow {

/// What the ledger keeps of the chunks of a prepared block, with samples end to end.
std::vector<PreparedChunk> preparedChunks(const std::vector<ChunkSummary>& chunks, std::int64_t seqLen);
/// The same by any rules; where they need the length of each sample, the chunks are read.
Result<std::vector<PreparedChunk>> preparedChunks(const PreparedBlock& block, const WindowRules& rules);

/// Counts what a feeder reads, watches for repeated and unknown text, and tells all: reading.json and telemetry.
/// Trouble with these files is logged and changes nothing else. Not thread-safe.
class FeederMeters {
public:
    FeederMeters(const RunPaths& paths, const std::string& runId, std::int64_t seqLen, std::int64_t attempt,
        std::optional<std::uint32_t> unknownToken);

    /// A block was made or found.
    /// @param block  the same, open
    /// @param chunks  what the ledger keeps of it
    /// @param firstTime  no attempt has prepared it before
    void made(const PreparedFile& file, const PreparedBlock& block, std::span<const PreparedChunk> chunks,
        double seconds, bool firstTime);
    /// Counts texts of which no row is trained, where something was left out since the last time.
    /// @param replanned  blocks of which a file was left out in this attempt
    void countUntrained(
        LedgerReader& ledger, const BlockManager& blocks, double heldOutPercent, std::int64_t replanned);
    void publish(const Message& doing, const BlockManager& blocks);

private:
    void lookAtText(const PreparedBlock& block, std::span<const PreparedChunk> chunks);
    void tell(const std::optional<std::string>& alarm);
    double ofAllAttempts(double before, double now) const;

    RunPaths paths_;
    std::int64_t seqLen_;
    std::int64_t startedNs_;
    double makingSeconds_ = 0;
    Reading before_; ///< of earlier attempts
    Reading reading_; ///< of this one
    std::vector<std::int64_t> leftOutThen_; ///< what was left out when untrained texts were counted
    RepetitionAlarm repetition_;
    UnknownAlarm unknown_;
    std::optional<TelemetryWriter> telemetry_;
};

} // namespace furrow
