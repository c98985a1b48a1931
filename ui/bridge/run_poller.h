#pragma once

#include "core/base/file_stamp.h"
#include "core/run/status/attempt_times.h"
#include "core/telemetry/run_telemetry.h"
#include "ui/bridge/log_tail.h"
#include "ui/bridge/run_feed.h"

#include <filesystem>
#include <map>
#include <optional>

namespace furrow {

/// Everything that one look into a run folder brought. Empty pointers: nothing new of that kind.
struct RunUpdate {
    StatusPtr status;
    std::optional<Error> problem; ///< the folder or its tracker cannot be read
    bool isGone = false; ///< `problem` is that nothing is at the path of the run any more
    bool isAnother = false; ///< another folder or tracker lies where that of the run was: nothing else of it is here
    bool telemetryWaits = false; ///< more of it is on disk, for the next look
    TablesPtr tables;
    CellsPtr cells;
    ClaimsPtr claims; ///< new claims, and older ones that were open until now
    EventsPtr events;
    LogLinesPtr logLines;
    SnapshotPtr telemetry; ///< everything read so far, when something arrived
    double lagMs = 0; ///< how long the reading took
    bool empty() const;
};

/// Looks into one run folder and tells what is new since the last look. Never writes. Lives on one reading thread.
class RunPoller {
public:
    explicit RunPoller(RunPaths paths);
    ~RunPoller(); ///< leaves a cache behind, so that opening again is quick

    struct Wanted {
        bool status = false; ///< derive the state from evidence (some milliseconds)
        bool views = true; ///< cells, claims, events, log
        std::optional<std::int64_t> epoch; ///< whose map is shown; absent: the oldest that is open, or the newest
    };
    RunUpdate poll(const Wanted& wanted);

private:
    bool isAnother();
    bool openLedger(RunUpdate& update);
    void readCells(RunUpdate& update, std::int64_t epoch);
    void markGone(RunUpdate& update);
    void readEvents(RunUpdate& update);
    void readClaims(RunUpdate& update);
    void readTables(RunUpdate& update);
    void readTelemetry(RunUpdate& update);

    RunPaths paths_; // set in the constructor, then constant
    std::optional<FileIdentity> folderRead_; // what was seen first
    std::optional<FileIdentity> trackerRead_;
    std::optional<LedgerReader> ledger_;
    std::filesystem::file_time_type ledgerWritten_; // of the snapshot that it shows; of a tracker: nothing
    LogTail log_;
    RunTelemetry telemetry_;
    bool cacheLoaded_ = false;
    bool cacheStale_ = false;
    std::int64_t clockAheadNs_ = 0; // RunStatus::clockAheadNs
    std::int64_t openEpoch_ = 0; // where the chunks are claimed first: the oldest open one
    std::int64_t cellEpoch_ = -1; // whose cells were sent; -1: none
    std::int64_t cellSeq_ = 0;
    std::int64_t wholeSeq_ = 0; // the newest event as all cells were read
    std::map<ChunkId, ChunkCell> gone_; // what processes that are gone hold, as the newest status has it
    std::vector<ChunkCell> goneSent_; // those of them that were sent so
    AttemptTimes claimTimes_;
    AttemptTimes eventTimes_;
    std::int64_t eventSeq_ = 0;
    std::int64_t newestClaim_ = 0;
    std::vector<std::int64_t> openClaims_; // ids sent as open
};

} // namespace furrow
