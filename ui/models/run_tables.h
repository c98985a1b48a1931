#pragma once

#include "core/config/schema.h"
#include "core/tracker/audit/audit.h"
#include "ui/bridge/run_feed.h"
#include "ui/models/table_model.h"

#include <QSortFilterProxyModel>
#include <functional>
#include <optional>

namespace furrow {

class RunWatcher;

/// How much an event matters to a person.
enum class EventWeight { Routine, Notice, Warning, Error };

/// An event in words.
struct EventLine {
    std::int64_t seq = 0;
    std::int64_t wallNs = 0;
    EventWeight weight = EventWeight::Routine;
    bool isAlert = false; ///< told once of what happened to many chunks; else what the ledger keeps of it
    ChunkId chunk;
    QString chunkName; ///< "B53 C17", "B53 C17 to C20" of several; "" for an event of the run
    std::int64_t incarnation = 0; ///< whose doing it was; 0: no worker's
    int worker = -1; ///< of it; -1: none, or its process is not known yet
    QString text;
    std::int64_t chunks = 1; ///< with consecutive ids from `chunk`
    std::function<QString()> inWords; ///< `text` in the language of now; null: it is of none
};

/// Puts a line into the words of the language of now, which may be another one than before.
void putIntoWords(EventLine& line);

/// One row of the configuration of a run.
struct ConfigLine {
    const Setting* setting = nullptr;
    QString value; ///< in force
    QString presetValue;
    QString begunWith; ///< what run.json froze, when a resume changed it; else ""
};

/// A block with how far its chunks are.
struct BlockLine {
    std::int64_t block = 0;
    std::int64_t chunks = 0;
    std::int64_t committed = 0;
    std::int64_t trained = 0;
    std::int64_t leased = 0;
    std::int64_t lost = 0; ///< isWorkLost(): whatever state the ledger has them in, they are counted here alone
    std::int64_t partly = 0; ///< isPartlyTrained()
    std::int64_t free = 0; ///< of the others
    std::int64_t pending = 0;
    std::int64_t out = 0; ///< excluded, poisoned, accepted
    double meanLoss = 0; ///< over the tokens of its trained chunks; NaN: none
};

using LogModel = TableModel<LogLine>;
using EventModel = TableModel<EventLine>;
using ConfigModel = TableModel<ConfigLine>;
using BlockModel = TableModel<BlockLine>;
using ChunkModel = TableModel<ChunkCell>;
using ClaimModel = TableModel<ClaimRow>;
using IncarnationModel = TableModel<IncarnationRow>;
using FindingModel = TableModel<AuditFinding>;

/// What a person reads of a line of a log: what was written for programs is put into words.
QString logText(const QString& line);
/// A moment [ns since 1970] as lines of logs have it (LogLine::time).
QString logTime(std::int64_t wallNs);
std::vector<TableColumn<LogLine>> logColumns();
std::vector<TableColumn<EventLine>> eventColumns();
std::vector<TableColumn<ConfigLine>> configColumns();
std::vector<TableColumn<BlockLine>> blockColumns();
std::vector<TableColumn<ChunkCell>> chunkColumns();
std::vector<TableColumn<ClaimRow>> claimColumns();
std::vector<TableColumn<IncarnationRow>> incarnationColumns();
std::vector<TableColumn<AuditFinding>> findingColumns();

/// Gives the process of a merge the steps and tokens of the weights that it wrote, 0: none yet; the ledger has those of
/// the replica that it loaded first.
std::vector<IncarnationRow> withMerged(
    std::vector<IncarnationRow> rows, const std::vector<SupervisorLedger::CheckpointRow>& checkpoints);
/// Processes as they are now: what one told last holds while it lives and goes on, which the status knows. @param
/// status null: not read yet
std::vector<IncarnationRow> processesNow(std::vector<IncarnationRow> rows, const RunStatus* status);
/// Blocks of the cells, by number.
/// What became of a claim: "committed".
QString outcomeWord(ClaimEnd outcome);
std::vector<BlockLine> blockLines(const std::vector<ChunkCell>& cells);
/// The configuration in schema order. @param config  in force  @param frozen  what the run began with
std::vector<ConfigLine> configLines(const RunConfig& config, const RunConfig& frozen, const RunConfig& preset);
/// An event in words; the incarnations give its worker.
EventLine eventLine(const EventRow& event, const LedgerTables* tables);
/// Worker of an incarnation; -1: none, or the table is older than it.
int workerOf(std::int64_t incarnation, const LedgerTables* tables);

/// Filters a log by level, process and words.
class LogFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    explicit LogFilter(QObject* parent = nullptr);
    void setLeastLevel(LogLevel level);
    void setProcess(const QString& process); ///< "": all
    void setWords(const QString& words);
    /// Only what was written until then [ns since 1970]; absent: all.
    void setMoment(std::optional<std::int64_t> wallNs);

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    LogLevel leastLevel_ = LogLevel::Debug;
    QString process_;
    QString words_;
    QString until_; ///< as LogLine::time; "": all
};

/// Leaves out routine events unless all are wanted; in the order of their times, whatever order they were told in.
class EventFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    explicit EventFilter(QObject* parent = nullptr);
    void setAll(bool all);
    /// Only what happened until then [ns since 1970]; absent: all.
    void setMoment(std::optional<std::int64_t> wallNs);

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
    bool lessThan(const QModelIndex& a, const QModelIndex& b) const override;

private:
    bool all_ = false;
    std::optional<std::int64_t> moment_;
};

} // namespace furrow
