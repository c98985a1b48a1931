#pragma once

#include "core/base/log.h"
#include "core/run/status/run_status.h"
#include "core/run/status/settings_paces.h"
#include "core/telemetry/snapshot.h"
#include "core/tracker/ledger_reader.h"
#include "core/tracker/left_out_samples.h"
#include "core/workspace/workspace_file.h"

#include <QMetaType>
#include <QString>
#include <cstdint>
#include <memory>
#include <vector>

namespace furrow {

// What the bridge hands to the interface: immutable values, made on a reading thread, shared by pointer.

/// One line of a log file of the run.
struct LogLine {
    QString time; ///< "2026-03-13 18:42:10.123" as written
    LogLevel level = LogLevel::Info;
    QString process; ///< "worker-0"
    QString text;
};

/// Cells of the coverage map: all of one epoch (reset) or those that changed since the update before.
struct CellUpdate {
    std::int64_t epoch = 0;
    bool reset = false;
    std::vector<ChunkCell> cells;
};

/// The small tables of a tracker, read whole.
struct LedgerTables {
    std::vector<AttemptRow> attempts;
    std::vector<IncarnationRow> incarnations;
    std::vector<ActiveStretch> active; ///< when the run was
    std::vector<SupervisorLedger::CheckpointRow> checkpoints;
    std::vector<SupervisorLedger::ReplicaRow> replicas;
    LedgerReader::Totals totals;
    SkippedChunks skipped; ///< null: the ledger does not tell
};

/// One line of the library: what readStatus said about a run, with the losses of its chunks in training order.
struct RunLine {
    QString folder;
    QString name; ///< with what tells it apart where another one has it too
    QString runId; ///< "": cannot be read
    QString twin; ///< name of the folder of another line with the same id: one is a copy of the other; "": none
    RunState state = RunState::Unknown;
    StopReason stopReason = StopReason::None;
    bool markedByHand = false; ///< finished because a person said so
    Message stopDetail; ///< of one that finished, and not by hand: what it says of its end; "": nothing
    Message problem; ///< why the folder cannot be read; empty: it can
    std::int64_t attempt = 0;
    int workersAlive = 0;
    std::int64_t createdWallNs = 0;
    std::int64_t epochsClosed = 0;
    std::int64_t committed = 0;
    std::int64_t chunks = 0;
    double loss = 0; ///< NaN: none yet
    int lossWorkers = 0; ///< that `loss` is the mean of
    bool lossIsGone = false; ///< of steps that no weights have any more
    Message hindrance; ///< what keeps it from going on, in a few words; "": nothing
    double tokensPerSecond = 0; ///< now, sum of living workers
    double meanTokensPerSecond = 0; ///< over the whole active time; 0: nothing trained yet
    QString preset;
    std::vector<double> sparkline; ///< at most 48 mean losses, oldest first
    std::int64_t steps = 0;
    std::int64_t tokens = 0;
    double activeSeconds = 0;
    double evalLoss = 0; ///< newest; NaN: none
    std::shared_ptr<const RunConfig>
        config; ///< as frozen; the same pointer as long as it is the same; null: cannot be read
    std::shared_ptr<const RunConfig> changed; ///< what resumes made of it; null: they changed nothing
    /// As it trains now; null: cannot be read.
    const RunConfig* inForce() const { return changed ? changed.get() : config.get(); }
    /// How fast each of the settings was that its attempts trained with; empty: they all had the same, inForce().
    std::vector<SettingsPace> paces;
    RunNotes notes; ///< what the person wrote about it
    bool operator==(const RunLine&) const = default;
};
using RunLines = std::vector<RunLine>;

/// The queue of a workspace.
struct QueueView {
    std::vector<QueueEntry> entries; ///< in order of their turn
    bool paused = false;
    bool active = false; ///< a process runs it
    Message cannotRun; ///< why no process of this user can; "": one could
    bool operator==(const QueueView&) const = default;
};

using StatusPtr = std::shared_ptr<const RunStatus>;
using CellsPtr = std::shared_ptr<const CellUpdate>;
using TablesPtr = std::shared_ptr<const LedgerTables>;
using ClaimsPtr = std::shared_ptr<const std::vector<ClaimRow>>;
using EventsPtr = std::shared_ptr<const std::vector<EventRow>>;
using LogLinesPtr = std::shared_ptr<const std::vector<LogLine>>;
using RunLinesPtr = std::shared_ptr<const RunLines>;
using QueuePtr = std::shared_ptr<const QueueView>;

/// Makes the types above usable in queued signals. Call once in main.
void registerBridgeTypes();

} // namespace furrow

Q_DECLARE_METATYPE(furrow::SnapshotPtr)
Q_DECLARE_METATYPE(furrow::StatusPtr)
Q_DECLARE_METATYPE(furrow::CellsPtr)
Q_DECLARE_METATYPE(furrow::TablesPtr)
Q_DECLARE_METATYPE(furrow::ClaimsPtr)
Q_DECLARE_METATYPE(furrow::EventsPtr)
Q_DECLARE_METATYPE(furrow::LogLinesPtr)
Q_DECLARE_METATYPE(furrow::RunLinesPtr)
Q_DECLARE_METATYPE(furrow::QueuePtr)
