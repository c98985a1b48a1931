#include "ui/models/run_tables.h"

#include "ui/models/column_kinds.h"
#include "ui/models/core_words.h"
#include "ui/models/setting_words.h"
#include "ui/models/words.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace furrow {

namespace {

/// Column of a worker, with its number for marker and colour.
template <typename Row> TableColumn<Row> workerColumn(std::function<int(const Row&)> worker)
{
    return { [] { return QCoreApplication::translate("Tables", "Worker"); },
        [worker](const Row& row) { return worker(row) < 0 ? QString() : workerName(worker(row)); },
        [worker](const Row& row) { return QVariant(worker(row)); }, false,
        [worker](const Row& row, int role) {
            return role == WorkerRole && worker(row) >= 0 ? QVariant(worker(row)) : QVariant();
        } };
}

} // namespace

QString outcomeWord(ClaimEnd outcome)
{
    switch (outcome) {
    case ClaimEnd::Open: return QCoreApplication::translate("Tables", "in training");
    case ClaimEnd::Trained: return QCoreApplication::translate("Tables", "trained, not in a checkpoint yet");
    case ClaimEnd::Committed: return QCoreApplication::translate("Tables", "committed");
    case ClaimEnd::Released: return QCoreApplication::translate("Tables", "given back");
    case ClaimEnd::Lost: return QCoreApplication::translate("Tables", "work lost");
    case ClaimEnd::Failed: return QCoreApplication::translate("Tables", "failed");
    case ClaimEnd::Unknown: break;
    }
    return QString::fromStdString(toString(outcome));
}

namespace {

QString findingWord(FindingKind kind)
{
    switch (kind) {
    case FindingKind::Duplicated: return QCoreApplication::translate("Tables", "trained twice");
    case FindingKind::Missing: return QCoreApplication::translate("Tables", "missing");
    case FindingKind::OverlappingClaims: return QCoreApplication::translate("Tables", "claimed twice at once");
    case FindingKind::Poisoned: return QCoreApplication::translate("Tables", "poisoned");
    case FindingKind::Accepted: return QCoreApplication::translate("Tables", "poisoned, accepted");
    case FindingKind::Excluded: return QCoreApplication::translate("Tables", "excluded");
    case FindingKind::Lost: return QCoreApplication::translate("Tables", "work lost");
    default: return QString::fromStdString(toString(kind)); // the names of what stands in the ledger and beside it
    }
}

QString resumeWord(ResumeRule rule)
{
    switch (rule) {
    case ResumeRule::Safe: return QCoreApplication::translate("Tables", "may change");
    case ResumeRule::Unsafe: return QCoreApplication::translate("Tables", "changes the curves");
    case ResumeRule::Refused: return QCoreApplication::translate("Tables", "fixed");
    }
    return {};
}

} // namespace

QString logText(const QString& line)
{
    static constexpr QLatin1String kTimes("time: "); // a worker says at its end, for programs, what took how long
    static constexpr std::pair<const char*, const char*> kParts[] = { { "train_s",
                                                                          QT_TRANSLATE_NOOP("Tables", "training %1") },
        { "data_s", QT_TRANSLATE_NOOP("Tables", "data %1") }, { "merge_s", QT_TRANSLATE_NOOP("Tables", "merging %1") },
        { "checkpoint_s", QT_TRANSLATE_NOOP("Tables", "checkpoints %1") },
        { "evaluation_s", QT_TRANSLATE_NOOP("Tables", "evaluation %1") },
        { "ledger_s", QT_TRANSLATE_NOOP("Tables", "ledger %1") },
        { "telemetry_s", QT_TRANSLATE_NOOP("Tables", "telemetry %1") } };
    const QJsonObject times
        = line.startsWith(kTimes) ? QJsonDocument::fromJson(line.mid(kTimes.size()).toUtf8()).object() : QJsonObject();
    if (!times.contains(QLatin1String("seconds")))
        return line;
    QStringList parts;
    for (const auto& [key, words] : kParts)
        if (const double seconds = times.value(QLatin1String(key)).toDouble(); seconds > 0)
            parts.append(QCoreApplication::translate("Tables", words).arg(durationText(seconds)));
    return QCoreApplication::translate("Tables", "It took %1: %2")
        .arg(durationText(times.value(QLatin1String("seconds")).toDouble()), parts.join(QStringLiteral(", ")));
}

QString logTime(std::int64_t wallNs)
{
    return QDateTime::fromMSecsSinceEpoch(wallNs / 1'000'000).toString(QStringLiteral("yyyy-MM-dd HH:mm:ss.zzz"));
}

std::vector<TableColumn<LogLine>> logColumns()
{
    auto text = worded<LogLine>(
        [] { return QCoreApplication::translate("Tables", "Text"); }, [](const LogLine& l) { return logText(l.text); });
    text.extra = [](const LogLine& l, int role) {
        return role == Qt::ToolTipRole ? QVariant(logText(l.text)) : QVariant();
    }; // lines may be long
    return {
        worded<LogLine>([] { return QCoreApplication::translate("Tables", "Time"); },
            [](const LogLine& l) { return l.time.mid(11); }),
        worded<LogLine>([] { return QCoreApplication::translate("Tables", "Level"); },
            [](const LogLine& l) { return logLevelWord(l.level); }),
        worded<LogLine>([] { return QCoreApplication::translate("Tables", "Process"); },
            [](const LogLine& l) { return l.process; }),
        text,
    };
}

std::vector<TableColumn<EventLine>> eventColumns()
{
    auto text = worded<EventLine>([] { return QCoreApplication::translate("Tables", "What happened"); },
        [](const EventLine& e) { return e.text; });
    text.extra = [](const EventLine& e, int role) {
        return role == Qt::ToolTipRole ? QVariant(e.text) : QVariant();
    }; // causes may be long
    return {
        timed<EventLine>(
            [] { return QCoreApplication::translate("Tables", "Time"); }, [](const EventLine& e) { return e.wallNs; }),
        workerColumn<EventLine>([](const EventLine& e) { return e.worker; }),
        { [] { return QCoreApplication::translate("Tables", "Epoch"); },
            [](const EventLine& e) { return e.chunk.value == 0 ? QString() : countText(placeOf(e.chunk).epoch + 1); },
            [](const EventLine& e) {
                return QVariant(static_cast<qlonglong>(e.chunk.value == 0 ? -1 : placeOf(e.chunk).epoch));
            },
            true, {} },
        worded<EventLine>([] { return QCoreApplication::translate("Tables", "Chunk"); },
            [](const EventLine& e) { return e.chunkName; }),
        text,
    };
}

std::vector<TableColumn<ConfigLine>> configColumns()
{
    TableColumn<ConfigLine> value = worded<ConfigLine>([] { return QCoreApplication::translate("Tables", "Value"); },
        [](const ConfigLine& c) {
            return c.begunWith.isEmpty()
                ? c.value
                : QCoreApplication::translate("Tables", "%1 (begun with %2)").arg(c.value, c.begunWith);
        });
    std::vector<TableColumn<ConfigLine>> columns {
        worded<ConfigLine>([] { return QCoreApplication::translate("Tables", "Group"); },
            [](const ConfigLine& c) { return settingGroupTitle(c.setting->group); }),
        worded<ConfigLine>([] { return QCoreApplication::translate("Tables", "Key"); },
            [](const ConfigLine& c) { return QString::fromStdString(c.setting->key); }),
        value,
        worded<ConfigLine>([] { return QCoreApplication::translate("Tables", "Unit"); },
            [](const ConfigLine& c) { return settingUnit(*c.setting); }),
        worded<ConfigLine>([] { return QCoreApplication::translate("Tables", "Preset"); },
            [](const ConfigLine& c) { return c.presetValue; }),
        worded<ConfigLine>([] { return QCoreApplication::translate("Tables", "On resume"); },
            [](const ConfigLine& c) { return resumeWord(c.setting->resume); }),
        worded<ConfigLine>([] { return QCoreApplication::translate("Tables", "Meaning"); },
            [](const ConfigLine& c) { return settingHelp(*c.setting); }),
    };
    for (auto& column : columns) // what does not fit its column
        column.extra = [text = column.text](const ConfigLine& c, int role) {
            return role == Qt::ToolTipRole ? QVariant(text(c)) : QVariant();
        };
    constexpr std::size_t kKey = 1;
    columns[kKey].extra = columns.back().extra; // the meaning, which small windows do not show
    return columns;
}

std::vector<TableColumn<BlockLine>> blockColumns()
{
    using B = BlockLine;
    return {
        { [] { return QCoreApplication::translate("Tables", "Block"); },
            [](const B& b) { return QStringLiteral("B%1").arg(b.block); },
            [](const B& b) { return QVariant(static_cast<qlonglong>(b.block)); }, false, {} },
        lossColumn<B>(
            [] { return QCoreApplication::translate("Tables", "Mean loss"); }, [](const B& b) { return b.meanLoss; }),
        counted<B>([] { return QCoreApplication::translate("Tables", "Chunks"); }, [](const B& b) { return b.chunks; }),
        counted<B>(
            [] { return QCoreApplication::translate("Tables", "Committed"); }, [](const B& b) { return b.committed; }),
        counted<B>(
            [] { return QCoreApplication::translate("Tables", "Trained"); }, [](const B& b) { return b.trained; }),
        counted<B>([] { return QCoreApplication::translate("Tables", "Leased"); }, [](const B& b) { return b.leased; }),
        explained<B>(counted<B>([] { return QCoreApplication::translate("Tables", "Work lost"); },
                         [](const B& b) { return b.lost; }),
            [] {
                return QCoreApplication::translate("Tables",
                    "Trained or begun, and their weights are gone: they are trained again. Below the meters of the overview it says how many went with their workers, by going back to an older checkpoint, and with damage.");
            }),
        counted<B>([] { return QCoreApplication::translate("Tables", "Partly trained"); },
            [](const B& b) { return b.partly; }),
        counted<B>([] { return QCoreApplication::translate("Tables", "Free"); }, [](const B& b) { return b.free; }),
        counted<B>(
            [] { return QCoreApplication::translate("Tables", "Not prepared"); }, [](const B& b) { return b.pending; }),
        counted<B>([] { return QCoreApplication::translate("Tables", "Left out"); }, [](const B& b) { return b.out; }),
    };
}

std::vector<TableColumn<ChunkCell>> chunkColumns()
{
    using C = ChunkCell;
    return {
        { [] { return QCoreApplication::translate("Tables", "Chunk"); },
            [](const C& c) { return chunkShort(c.block, c.column); },
            [](const C& c) { return QVariant(static_cast<qlonglong>(c.block * 1'000'000 + c.column)); }, false, {} },
        worded<C>([] { return QCoreApplication::translate("Tables", "State"); },
            [](const C& c) { return chunkStateWord(c); }),
        lossColumn<C>([] { return QCoreApplication::translate("Tables", "Loss"); },
            [](const C& c) { return static_cast<double>(c.meanLoss); }),
        workerColumn<C>([](const C& c) { return static_cast<int>(c.worker); }),
        { [] { return QCoreApplication::translate("Tables", "Attempt"); },
            [](const C& c) { return c.attempt > 0 ? countText(c.attempt) : QStringLiteral("–"); },
            [](const C& c) { return QVariant(static_cast<int>(c.attempt)); }, true, {} },
        counted<C>([] { return QCoreApplication::translate("Tables", "Trainings"); },
            [](const C& c) { return std::int64_t(c.timesTrained); }),
        counted<C>([] { return QCoreApplication::translate("Tables", "Lost"); },
            [](const C& c) { return std::int64_t(c.timesLost); }),
        timed<C>(
            [] { return QCoreApplication::translate("Tables", "Ended"); }, [](const C& c) { return c.trainedWallNs; }),
    };
}

std::vector<TableColumn<ClaimRow>> claimColumns()
{
    using C = ClaimRow;
    return {
        counted<C>([] { return QCoreApplication::translate("Tables", "Claim"); }, [](const C& c) { return c.claimId; }),
        workerColumn<C>([](const C& c) { return c.worker; }),
        counted<C>([] { return QCoreApplication::translate("Tables", "Attempt"); },
            [](const C& c) { return c.attempt.value; }),
        timed<C>(
            [] { return QCoreApplication::translate("Tables", "Begun"); }, [](const C& c) { return c.startedWallNs; }),
        timed<C>(
            [] { return QCoreApplication::translate("Tables", "Ended"); }, [](const C& c) { return c.endedWallNs; }),
        worded<C>([] { return QCoreApplication::translate("Tables", "Outcome"); },
            [](const C& c) { return outcomeWord(c.outcome); }),
        counted<C>([] { return QCoreApplication::translate("Tables", "Tokens"); }, [](const C& c) { return c.tokens; }),
        lossColumn<C>([] { return QCoreApplication::translate("Tables", "Loss"); },
            [](const C& c) { return c.tokens > 0 ? c.meanLoss : std::nan(""); }),
    };
}

std::vector<TableColumn<IncarnationRow>> incarnationColumns()
{
    using I = IncarnationRow;
    TableColumn<I> worker = workerColumn<I>([](const I& i) { return i.worker; });
    worker.text = [](const I& i) {
        return i.worker == kNoWorker ? QCoreApplication::translate("Tables", "merge") : workerName(i.worker);
    };
    const auto dashWithout = [](TableColumn<I> column) { // a merge that has written nothing yet
        column.text = [text = column.text](
                          const I& i) { return i.worker == kNoWorker && i.step == 0 ? QStringLiteral("–") : text(i); };
        return column;
    };
    return {
        worker,
        counted<I>([] { return QCoreApplication::translate("Tables", "Attempt"); },
            [](const I& i) { return i.attempt.value; }),
        { [] { return QCoreApplication::translate("Tables", "Process"); },
            [](const I& i) { return QString::number(i.process.pid); },
            [](const I& i) { return QVariant(static_cast<qlonglong>(i.process.pid)); }, true, {} },
        worded<I>([] { return QCoreApplication::translate("Tables", "Device"); },
            [](const I& i) { return QString::fromStdString(i.deviceName.empty() ? i.device : i.deviceName); }),
        timed<I>([] { return QCoreApplication::translate("Tables", "Started"); },
            [](const I& i) { return i.startedWallNs; }),
        timed<I>(
            [] { return QCoreApplication::translate("Tables", "Ended"); }, [](const I& i) { return i.endedWallNs; }),
        worded<I>([] { return QCoreApplication::translate("Tables", "Phase, or why it ended"); },
            [](const I& i) {
                return i.live            ? phaseWord(i.phase)
                    : i.endCause.empty() ? QCoreApplication::translate("Tables", "not alive, no end was recorded")
                                         : coreWords(i.endCause);
            }),
        explained<I>(dashWithout(counted<I>([] { return QCoreApplication::translate("Tables", "Own steps"); },
                         [](const I& i) { return i.step; })),
            [] {
                return QCoreApplication::translate("Tables",
                    "Optimiser steps that this worker has made, those whose work was lost too. Of a merge: those in the weights that it wrote.");
            }),
        explained<I>(dashWithout(counted<I>([] { return QCoreApplication::translate("Tables", "Own tokens"); },
                         [](const I& i) { return i.tokens; })),
            [] {
                return QCoreApplication::translate("Tables",
                    "Tokens that this worker has trained, those whose work was lost too. Of a merge: those in the weights that it wrote. Where all workers train one model, worker 0 has those of all of them since the run began, and each other one its own part since its process started.");
            }),
        explained<I>(lossColumn<I>([] { return QCoreApplication::translate("Tables", "Loss"); },
                         [](const I& i) { return i.step > 0 && i.worker != kNoWorker ? i.loss : std::nan(""); }),
            [] {
                return QCoreApplication::translate("Tables",
                    "Loss of the newest step that this worker told of, also where that step was lost with its weights.");
            }),
        { [] { return QCoreApplication::translate("Tables", "Speed"); },
            [](const I& i) { return i.live ? rateText(i.tokensPerSecond) : QStringLiteral("–"); },
            [](const I& i) { return QVariant(i.live ? i.tokensPerSecond : 0.0); }, true, {} },
    };
}

std::vector<TableColumn<AuditFinding>> findingColumns()
{
    using F = AuditFinding;
    return {
        worded<F>([] { return QCoreApplication::translate("Tables", "Finding"); },
            [](const F& f) { return findingWord(f.kind); }),
        worded<F>([] { return QCoreApplication::translate("Tables", "Chunk"); },
            [](const F& f) {
                if (!f.claims.empty())
                    return chunkShort(f.claims.front().block, f.claims.front().column);
                return f.chunk.value == 0 ? QStringLiteral("–")
                                          : chunkShort(placeOf(f.chunk).block, placeOf(f.chunk).column);
            }),
        counted<F>([] { return QCoreApplication::translate("Tables", "Trainings"); },
            [](const F& f) { // who only held the chunk and gave it back trained nothing
                return static_cast<std::int64_t>(std::count_if(
                    f.claims.begin(), f.claims.end(), [](const ClaimRow& claim) { return claim.startedWallNs != 0; }));
            }),
        worded<F>([] { return QCoreApplication::translate("Tables", "What and why"); },
            [](const F& f) { return coreWords(f.text); }),
    };
}

std::vector<IncarnationRow> withMerged(
    std::vector<IncarnationRow> rows, const std::vector<SupervisorLedger::CheckpointRow>& checkpoints)
{
    for (IncarnationRow& row : rows) {
        if (row.worker != kNoWorker)
            continue;
        row.step = 0;
        row.tokens = 0;
        for (const auto& checkpoint : checkpoints)
            if (checkpoint.incarnation == row.id && checkpoint.record.kind == CheckpointKind::Merge) {
                row.step = checkpoint.record.step;
                row.tokens = checkpoint.record.tokens;
            }
    }
    return rows;
}

std::vector<IncarnationRow> processesNow(std::vector<IncarnationRow> rows, const RunStatus* status)
{
    if (status == nullptr)
        return rows;
    for (IncarnationRow& row : rows) {
        const auto now = std::find_if(status->workers.begin(), status->workers.end(),
            [&row](const WorkerStatus& one) { return one.worker == row.worker && one.pid == row.process.pid; });
        if (!row.live || row.worker < 0 || now == status->workers.end()) // of another attempt, or newer than the status
            continue;
        row.live = now->alive;
        row.phase = now->phase;
        row.tokensPerSecond = now->tokensPerSecond;
    }
    return rows;
}

namespace {

/// Where a line counts a chunk.
std::int64_t& countOf(BlockLine& line, const ChunkCell& cell)
{
    if (isWorkLost(cell))
        return line.lost;
    if (isPartlyTrained(cell))
        return line.partly;
    switch (cell.state) {
    case ChunkState::Pending: return line.pending;
    case ChunkState::Free: return line.free;
    case ChunkState::Leased: return line.leased;
    case ChunkState::Trained: return line.trained;
    case ChunkState::Committed: return line.committed;
    default: return line.out;
    }
}

} // namespace

std::vector<BlockLine> blockLines(const std::vector<ChunkCell>& cells)
{
    std::map<std::int64_t, BlockLine> blocks;
    std::map<std::int64_t, std::pair<double, std::int64_t>> losses; // nats, tokens
    for (const ChunkCell& cell : cells) {
        BlockLine& line = blocks[cell.block];
        line.block = cell.block;
        ++line.chunks;
        ++countOf(line, cell);
        if (std::isfinite(cell.meanLoss) && cell.trainedWallNs != 0 && cell.tokens > 0) {
            losses[cell.block].first += cell.meanLoss * static_cast<double>(cell.tokens);
            losses[cell.block].second += cell.tokens;
        }
    }
    std::vector<BlockLine> lines;
    for (auto& [number, line] : blocks) {
        const auto& [sum, tokens] = losses[number];
        line.meanLoss = tokens > 0 ? sum / static_cast<double>(tokens) : std::numeric_limits<double>::quiet_NaN();
        lines.push_back(line);
    }
    return lines;
}

std::vector<ConfigLine> configLines(const RunConfig& config, const RunConfig& frozen, const RunConfig& preset)
{
    std::vector<ConfigLine> lines;
    for (const Setting& setting : settings()) {
        ConfigLine line { &setting, QString::fromStdString(settingText(config, setting)),
            QString::fromStdString(settingText(preset, setting)), {} };
        if (const QString begunWith = QString::fromStdString(settingText(frozen, setting)); begunWith != line.value)
            line.begunWith = begunWith.isEmpty() ? QStringLiteral("–") : begunWith;
        lines.push_back(std::move(line));
    }
    return lines;
}

namespace {

EventWeight weightOf(const EventRow& event)
{
    const auto from = static_cast<ChunkState>(event.from);
    const auto to = static_cast<ChunkState>(event.to);
    if (event.chunk.value == 0)
        return EventWeight::Notice;
    if (to == ChunkState::Poisoned)
        return EventWeight::Error;
    if (from == ChunkState::Trained && to == ChunkState::Free)
        return EventWeight::Warning;
    if (from == ChunkState::Committed && to != ChunkState::Committed)
        return EventWeight::Warning;
    if (to == ChunkState::Excluded || to == ChunkState::Accepted)
        return EventWeight::Notice;
    return EventWeight::Routine;
}

QString textOf(const EventRow& event)
{
    const QString cause = coreWords(event.cause);
    if (event.chunk.value == 0)
        return cause;
    const QString to = chunkStateWord(static_cast<ChunkState>(event.to));
    const QString move = event.from < 0 // it was not known before
        ? to
        : QCoreApplication::translate("Tables", "%1 → %2").arg(chunkStateWord(static_cast<ChunkState>(event.from)), to);
    return cause.isEmpty() || cause == to // the word was said
        ? move
        : QCoreApplication::translate("Tables", "%1: %2").arg(move, cause);
}

} // namespace

void putIntoWords(EventLine& line)
{
    if (line.inWords)
        line.text = line.inWords();
    if (line.chunk.value == 0)
        return;
    const ChunkPlace place = placeOf(line.chunk);
    line.chunkName = chunkShort(place.block, place.column);
    if (line.chunks > 1)
        line.chunkName = QCoreApplication::translate("Tables", "%1 to C%2")
                             .arg(line.chunkName)
                             .arg(place.column + line.chunks - 1);
}

int workerOf(std::int64_t incarnation, const LedgerTables* tables)
{
    if (tables == nullptr || incarnation == 0)
        return -1;
    const auto found = std::find_if(tables->incarnations.begin(), tables->incarnations.end(),
        [incarnation](const IncarnationRow& i) { return i.id.value == incarnation; });
    return found == tables->incarnations.end() ? -1 : found->worker;
}

EventLine eventLine(const EventRow& event, const LedgerTables* tables)
{
    EventLine line;
    line.seq = event.seq;
    line.wallNs = event.wallNs;
    line.chunk = event.chunk;
    line.weight = weightOf(event);
    line.incarnation = event.incarnation;
    line.worker = workerOf(event.incarnation, tables);
    line.chunks = event.count;
    line.inWords = [event] { return textOf(event); };
    putIntoWords(line);
    return line;
}

LogFilter::LogFilter(QObject* parent)
    : QSortFilterProxyModel(parent)
{
}

void LogFilter::setLeastLevel(LogLevel level)
{
    leastLevel_ = level;
    invalidateFilter();
}

void LogFilter::setProcess(const QString& process)
{
    process_ = process;
    invalidateFilter();
}

void LogFilter::setWords(const QString& words)
{
    words_ = words.trimmed();
    invalidateFilter();
}

void LogFilter::setMoment(std::optional<std::int64_t> wallNs)
{
    until_ = wallNs ? logTime(*wallNs) : QString();
    invalidateFilter();
}

bool LogFilter::filterAcceptsRow(int row, const QModelIndex&) const
{
    const auto* log = dynamic_cast<const LogModel*>(sourceModel());
    if (log == nullptr)
        return true;
    const LogLine& line = log->rows()[static_cast<std::size_t>(row)];
    return line.level >= leastLevel_ && (process_.isEmpty() || line.process == process_)
        && (until_.isEmpty() || line.time <= until_)
        && (words_.isEmpty() || line.text.contains(words_, Qt::CaseInsensitive)
            || logText(line.text).contains(words_, Qt::CaseInsensitive));
}

EventFilter::EventFilter(QObject* parent)
    : QSortFilterProxyModel(parent)
{
}

void EventFilter::setAll(bool all)
{
    all_ = all;
    invalidateFilter();
}

void EventFilter::setMoment(std::optional<std::int64_t> wallNs)
{
    moment_ = wallNs;
    invalidateFilter();
}

bool EventFilter::lessThan(const QModelIndex& a, const QModelIndex& b) const
{
    constexpr int kTime = 0;
    const auto* events = dynamic_cast<const EventModel*>(sourceModel());
    if (events == nullptr || a.column() != kTime)
        return QSortFilterProxyModel::lessThan(a, b);
    const EventLine& first = *events->rowAt(a);
    const EventLine& second = *events->rowAt(b);
    return std::pair(first.wallNs, first.seq) < std::pair(second.wallNs, second.seq);
}

bool EventFilter::filterAcceptsRow(int row, const QModelIndex&) const
{
    const auto* events = dynamic_cast<const EventModel*>(sourceModel());
    if (events == nullptr)
        return true;
    const EventLine& line = events->rows()[static_cast<std::size_t>(row)];
    return (all_ || line.weight != EventWeight::Routine) && (!moment_ || line.wallNs <= *moment_);
}

} // namespace furrow
