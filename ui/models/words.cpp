#include "ui/models/words.h"

#include "ui/models/core_words.h"
#include "ui/models/setting_words.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QLocale>
#include <algorithm>
#include <cmath>
#include <map>

namespace furrow {

QString stateWord(RunState state)
{
    switch (state) {
    case RunState::New: return QCoreApplication::translate("Words", "New");
    case RunState::Running: return QCoreApplication::translate("Words", "Running");
    case RunState::Pausing: return QCoreApplication::translate("Words", "Pausing");
    case RunState::Paused: return QCoreApplication::translate("Words", "Paused");
    case RunState::Stopping: return QCoreApplication::translate("Words", "Stopping");
    case RunState::Stopped: return QCoreApplication::translate("Words", "Stopped");
    case RunState::Interrupted: return QCoreApplication::translate("Words", "Interrupted");
    case RunState::Failed: return QCoreApplication::translate("Words", "Failed");
    case RunState::Finished: return QCoreApplication::translate("Words", "Finished");
    case RunState::Unknown: break;
    }
    return QCoreApplication::translate("Words", "Unknown");
}

namespace {

/// @param hindrance  what keeps it from going on; "": nothing
QString stateWord(RunState state, bool isMarkedByHand, const Message& hindrance)
{
    if (isMarkedByHand)
        return QCoreApplication::translate("Words", "Finished (marked by hand)");
    return hindrance.empty() ? stateWord(state) : QStringLiteral("%1: %2").arg(stateWord(state), coreWords(hindrance));
}

} // namespace

QString stateWord(const RunStatus& status)
{
    return stateWord(status.state, status.markedByHand, status.hindrance ? status.hindrance->words : Message());
}

QString stateWord(const RunLine& line) { return stateWord(line.state, line.markedByHand, line.hindrance); }

QString stopReasonSentence(StopReason reason) { return coreWords(inWords(reason)); }

QString evidenceText(const RunStatus& status, const QString& separator)
{
    return coreWords(status.evidence).join(separator);
}

QString chunkStateWord(ChunkState state)
{
    switch (state) {
    case ChunkState::Pending: return QCoreApplication::translate("Words", "not prepared");
    case ChunkState::Free: return QCoreApplication::translate("Words", "free");
    case ChunkState::Leased: return QCoreApplication::translate("Words", "leased");
    case ChunkState::Trained: return QCoreApplication::translate("Words", "trained");
    case ChunkState::Committed: return QCoreApplication::translate("Words", "committed");
    case ChunkState::Excluded: return QCoreApplication::translate("Words", "excluded");
    case ChunkState::Poisoned: return QCoreApplication::translate("Words", "poisoned");
    case ChunkState::Accepted: return QCoreApplication::translate("Words", "poisoned, accepted");
    }
    return {};
}

QString chunkStateWord(const ChunkCell& cell)
{
    if (isWorkLost(cell))
        return cell.covered > 0 ? QCoreApplication::translate("Words", "work lost, a part of it kept")
                                : QCoreApplication::translate("Words", "work lost");
    if (isLeftToParent(cell))
        return QCoreApplication::translate("Words", "trained by the parent run");
    if (isPartlyLeftOut(cell))
        return QCoreApplication::translate("Words", "partly trained, the rest left out");
    return isPartlyTrained(cell) ? QCoreApplication::translate("Words", "partly trained") : chunkStateWord(cell.state);
}

QString logLevelWord(LogLevel level)
{
    switch (level) {
    case LogLevel::Debug: return QCoreApplication::translate("Words", "debug");
    case LogLevel::Info: return QCoreApplication::translate("Words", "info");
    case LogLevel::Warning: return QCoreApplication::translate("Words", "warning");
    case LogLevel::Error: return QCoreApplication::translate("Words", "error");
    }
    return {};
}

QString chunkShort(std::int64_t block, int column) { return QStringLiteral("B%1 C%2").arg(block).arg(column); }

QString chunkTitle(std::int64_t block, int column)
{
    return QCoreApplication::translate("Words", "Block %1, chunk %2").arg(block).arg(column);
}

QString chunkNames(std::vector<ChunkId> chunks)
{
    constexpr std::size_t kShown = 8; // what a person reads at a glance
    std::sort(chunks.begin(), chunks.end());
    QStringList names;
    for (std::size_t i = 0; i < std::min(chunks.size(), kShown); ++i)
        names.append(chunkShort(placeOf(chunks[i]).block, placeOf(chunks[i]).column));
    const QString first = names.join(QStringLiteral(", "));
    return chunks.size() <= kShown ? first
                                   : QCoreApplication::translate("Words", "%1 and %2 more")
                                         .arg(first, countText(static_cast<std::int64_t>(chunks.size() - kShown)));
}

QString epochName(std::int64_t epoch) { return QCoreApplication::translate("Words", "Epoch %1").arg(epoch + 1); }

QString epochsName(const ShownEpochs& epochs)
{
    if (epochs.count() == 1)
        return epochName(epochs.first);
    const QString words = epochs.count() == 2 ? QCoreApplication::translate("Words", "Epochs %1 and %2")
                                              : QCoreApplication::translate("Words", "Epochs %1 to %2");
    return words.arg(epochs.first + 1).arg(epochs.last + 1);
}

QString epochNames(const std::vector<std::int64_t>& epochs)
{
    QStringList names;
    ShownEpochs piece;
    for (std::size_t i = 0; i < epochs.size(); ++i) {
        if (i == 0 || epochs[i] != epochs[i - 1] + 1)
            piece.first = epochs[i];
        piece.last = epochs[i];
        if (i + 1 == epochs.size() || epochs[i + 1] != epochs[i] + 1)
            names.append(epochsName(piece).toLower());
    }
    return QLocale().createSeparatedList(names);
}

QString workerName(int worker) { return QCoreApplication::translate("Words", "worker %1").arg(worker); }

QString phaseWord(WorkerPhase phase)
{
    switch (phase) {
    case WorkerPhase::None: break;
    case WorkerPhase::WarmingUp: return QCoreApplication::translate("Words", "warming up");
    case WorkerPhase::Train: return QCoreApplication::translate("Words", "training");
    case WorkerPhase::Evaluate: return QCoreApplication::translate("Words", "evaluating");
    case WorkerPhase::Checkpoint: return QCoreApplication::translate("Words", "saving a checkpoint");
    case WorkerPhase::Merge: return QCoreApplication::translate("Words", "merging");
    case WorkerPhase::Wait: return QCoreApplication::translate("Words", "waiting");
    case WorkerPhase::Ended: return QCoreApplication::translate("Words", "ended");
    case WorkerPhase::StandsStill: return QCoreApplication::translate("Words", "standing still");
    }
    return {};
}

QString countText(std::int64_t count)
{
    const QLocale locale;
    QString text = locale.toString(static_cast<qlonglong>(count));
    // Spanish leaves 1000 in one piece; Qt 6.4 takes that for every first group, so that millions were 3656.133.
    const qsizetype first = text.indexOf(locale.groupSeparator());
    if (first - (count < 0 ? 1 : 0) > 3)
        text.insert(first - 3, locale.groupSeparator());
    return text;
}

QString fixedText(double value, int decimals)
{
    if (std::isnan(value))
        return QStringLiteral("NaN");
    if (std::isinf(value))
        return value > 0 ? QStringLiteral("∞") : QStringLiteral("−∞");
    return QLocale().toString(value, 'f', decimals);
}

QString lossOfText(int workers)
{
    return QCoreApplication::translate(
        "Words", "Loss of the newest step, mean of %n worker(s), weighted by the tokens trained", nullptr, workers);
}

QString lossText(double loss, bool isGone, int decimals)
{
    if (!std::isfinite(loss))
        return QStringLiteral("–");
    const QString text = fixedText(loss, decimals);
    return isGone ? QCoreApplication::translate("Words", "%1 (lost)").arg(text) : text;
}

QString lossIsGoneText()
{
    return QCoreApplication::translate(
        "Words", "From steps that are in no checkpoint: their weights are gone, and they are trained again");
}

QString rateText(double perSecond)
{
    return QCoreApplication::translate("Words", "%1 tok/s").arg(QLocale().toString(perSecond, 'f', 0));
}

QString bytesText(std::uint64_t bytes)
{
    return QLocale().formattedDataSize(static_cast<qint64>(bytes), 1, QLocale::DataSizeIecFormat);
}

QString durationText(double seconds)
{
    const auto whole = static_cast<std::int64_t>(
        std::llround(std::max(0.0, seconds))); // as formatDuration() of the command line rounds
    if (seconds >= 0.001 && seconds < 0.9995)
        return QCoreApplication::translate("Words", "%1 ms").arg(static_cast<int>(seconds * 1000));
    if (whole < 60)
        return QCoreApplication::translate("Words", "%1 s").arg(whole);
    if (whole < 3600)
        return QCoreApplication::translate("Words", "%1 min %2 s").arg(whole / 60).arg(whole % 60);
    if (whole < 86400)
        return QCoreApplication::translate("Words", "%1 h %2 min").arg(whole / 3600).arg(whole % 3600 / 60);
    return QCoreApplication::translate("Words", "%1 d %2 h").arg(whole / 86400).arg(whole % 86400 / 3600);
}

QString percentText(double fraction)
{
    return QCoreApplication::translate("Words", "%1 %").arg(QLocale().toString(fraction * 100, 'f', 1));
}

QString wallClockText(std::int64_t wallNs)
{
    return QDateTime::fromMSecsSinceEpoch(wallNs / 1'000'000).toString(QStringLiteral("HH:mm:ss"));
}

QString wallTimeText(std::int64_t wallNs)
{
    if (wallNs == 0)
        return QStringLiteral("–");
    const QDateTime time = QDateTime::fromMSecsSinceEpoch(wallNs / 1'000'000);
    if (time.date() == QDate::currentDate())
        return time.toString(QStringLiteral("HH:mm:ss"));
    return QLocale().toString(time.date(), QLocale::ShortFormat) + time.toString(QStringLiteral(" HH:mm"));
}

QString agoText(double seconds)
{
    if (seconds < 10)
        return QCoreApplication::translate("Words", "%1 s ago").arg(QLocale().toString(seconds, 'f', 1));
    return QCoreApplication::translate("Words", "%1 ago").arg(durationText(seconds));
}

namespace {

QString endSubtitle(const RunLine& line)
{
    const QString when = QCoreApplication::translate("Words", "made %1").arg(wallTimeText(line.createdWallNs));
    if (line.markedByHand)
        return QCoreApplication::translate("Words", "finished (marked by hand) · %1").arg(when);
    if (!line.stopDetail.empty())
        return QCoreApplication::translate("Words", "%1 · %2").arg(coreWords(line.stopDetail), when);
    if (line.state == RunState::Finished && line.epochsClosed > 0) {
        const int epochs = static_cast<int>(line.epochsClosed); // lupdate does not read past a cast
        return QCoreApplication::translate("Words", "%n epoch(s) · %1", nullptr, epochs).arg(when);
    }
    if (line.state == RunState::Finished) {
        const int chunks = static_cast<int>(line.committed);
        return QCoreApplication::translate("Words", "%Ln chunk(s) · %1", nullptr, chunks).arg(when);
    }
    return QCoreApplication::translate("Words", "%1 · %2").arg(stateWord(line.state).toLower(), when);
}

} // namespace

QString changeText(const ConfigChange& change)
{
    const auto valueText
        = [](const std::string& value) { return value.empty() ? QStringLiteral("–") : QString::fromStdString(value); };
    return QCoreApplication::translate("Words", "%1 %2 → %3")
        .arg(settingLabel(*change.setting), valueText(change.before), valueText(change.after));
}

QString runSubtitle(const RunLine& line)
{
    if (!line.problem.empty())
        return coreWords(line.problem);
    if (isUnderWay(line.state)) {
        const QString workers = QCoreApplication::translate("Words", "%n worker(s)", nullptr, line.workersAlive);
        return QCoreApplication::translate("Words", "%1 · attempt %2")
            .arg(line.hindrance.empty() ? workers : coreWords(line.hindrance))
            .arg(line.attempt);
    }
    return line.state == RunState::New ? QCoreApplication::translate("Words", "not started yet") : endSubtitle(line);
}

} // namespace furrow
