#pragma once

#include "core/data/block/chunk_windows.h"
#include "core/data/block_manager.h"
#include "core/data/data_alarms.h"
#include "core/data/exclusion_meter.h"
#include "core/run/status/reading.h"
#include "core/telemetry/writer.h"
#include "core/tracker/feeder_ledger.h"
#include "core/tracker/ledger_reader.h"

#include <mutex>

namespace furrow {

/// What the ledger keeps of the chunks of a prepared block, with samples end to end.
std::vector<PreparedChunk> preparedChunks(const std::vector<ChunkSummary>& chunks, std::int64_t seqLen);
/// The same by any rules; where they need the length of each sample, the chunks are read.
Result<std::vector<PreparedChunk>> preparedChunks(const PreparedBlock& block, const WindowRules& rules);

/// Counts what a feeder reads, watches for repeated and unknown text, and tells all: reading.json and telemetry.
/// Trouble with these files is logged and changes nothing else. Not thread-safe, but for publishTraffic().
class FeederMeters {
public:
    /// @param blocks  the same in all calls
    FeederMeters(const RunPaths& paths, const std::string& runId, std::int64_t seqLen, std::int64_t attempt,
        const BlockManager& blocks);

    /// A block that was made or found.
    struct Made {
        const PlannedBlock& plan;
        const PreparedFile& file;
        const PreparedBlock& block; ///< the same, open
        std::span<const PreparedChunk> chunks; ///< what the ledger keeps of it
        double seconds = 0;
        bool isFirstTime = false; ///< no attempt has prepared it before
    };
    void made(const Made& made, BlockManager& blocks);
    /// Finds entries of the list of what is left out that mean nothing, once all blocks are known.
    void countExclusions(LedgerReader& ledger, const BlockManager& blocks);
    /// Counts texts of which no row is trained, where something was left out since the last time.
    /// @param replanned  blocks of which a file was left out in this attempt
    /// @return false: a page of the list of duplicates is damaged
    bool countUntrained(
        LedgerReader& ledger, const BlockManager& blocks, double heldOutPercent, std::int64_t replanned);
    void publish(const Message& doing, const BlockManager& blocks);
    /// What was published last, with what was downloaded since: a download may last for hours, and its feeder be killed
    /// in it. Any thread.
    void publishTraffic();

private:
    void addTraffic(Reading& all) const;
    void lookAtText(const PreparedBlock& block, std::span<const PreparedChunk> chunks);
    void lookAtEncoding(const Made& made, BlockManager& blocks);
    void tell(const std::optional<std::string>& alarm);
    double ofAllAttempts(double before, double now) const;

    RunPaths paths_;
    std::int64_t seqLen_;
    std::int64_t startedNs_;
    double makingSeconds_ = 0;
    Reading before_; ///< of earlier attempts
    Reading reading_; ///< of this one
    std::vector<std::int64_t> leftOutThen_; ///< what was left out when untrained texts were counted
    ExclusionMeter exclusions_;
    std::optional<std::vector<std::string>> unmetChunks_; ///< entries; nothing: not all blocks are known
    bool isAllPrepared_ = false;
    RepetitionAlarm repetition_;
    UnknownAlarm unknown_;
    std::optional<TelemetryWriter> telemetry_;
    std::mutex mutex_;
    std::optional<Reading> published_; ///< guarded by mutex_
};

} // namespace furrow
