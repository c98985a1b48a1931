#include "ui/models/run_list_model.h"

#include "ui/models/core_words.h"
#include "ui/models/run_words.h"
#include "ui/models/words.h"

#include <QRegularExpression>
#include <QVector>
#include <algorithm>
#include <cmath>
#include <utility>

namespace furrow {

namespace {

QStringList tagsOf(const RunLine& line)
{
    QStringList tags;
    for (const std::string& tag : line.notes.tags)
        tags.append(QString::fromStdString(tag));
    return tags;
}

QString tipOf(const RunLine& line)
{
    QStringList lines { line.folder };
    if (!line.problem.empty())
        lines.append(coreWords(line.problem));
    if (!line.stopDetail.empty())
        lines.append(coreWords(line.stopDetail));
    if (!line.twin.isEmpty())
        lines.append(QCoreApplication::translate(
            "Words", "A copy: %1 is the same run in another folder. Each goes on by itself.")
                .arg(line.twin));
    if (!line.notes.tags.empty())
        lines.append(QLatin1Char('#') + tagsOf(line).join(QStringLiteral(" #")));
    if (!line.notes.note.empty())
        lines.append(QString::fromStdString(line.notes.note));
    if (line.lossWorkers > 0)
        lines.append(line.lossIsGone ? lossIsGoneText() : lossOfText(line.lossWorkers));
    return lines.join(QLatin1Char('\n'));
}

/// Whether the attempts of a run may read differently now.
bool hasNewAttempts(const RunLine& before, const RunLine& now)
{
    return before.attempt != now.attempt || before.state != now.state || before.committed != now.committed;
}

/// Why an attempt ended, or what it does.
QString attemptState(const RunLine& line, const AttemptLine& attempt)
{
    if (attempt.endedWallNs)
        return endReasonSentence(attempt.reason, attempt.detail);
    if (attempt.number == line.attempt)
        return stateWord(line.state).toLower();
    return RunListModel::tr("no end was recorded");
}

QString attemptTime(const RunLine& line, const AttemptLine& attempt)
{
    const QString started = wallTimeText(attempt.startedWallNs);
    if (attempt.endedWallNs)
        return RunListModel::tr("%1 to %2").arg(started, wallClockText(*attempt.endedWallNs));
    return attempt.number == line.attempt && isUnderWay(line.state) ? RunListModel::tr("since %1").arg(started)
                                                                    : RunListModel::tr("from %1").arg(started);
}

QStringList changeTexts(const AttemptLine& attempt)
{
    QStringList texts;
    for (const ConfigChange& change : attempt.changes)
        texts.append(changeText(change));
    return texts;
}

} // namespace

RunListModel::RunListModel(QObject* parent)
    : QAbstractItemModel(parent)
{
}

void RunListModel::reset(const RunLines& lines)
{
    const bool sameRuns = std::equal(lines.begin(), lines.end(), lines_.begin(), lines_.end(),
        [](const RunLine& a, const RunLine& b) { return a.folder == b.folder; });
    if (!sameRuns) {
        beginResetModel();
        lines_ = lines;
        attempts_.clear();
        endResetModel();
        return;
    }
    // Only what changed: a filter over thousands of runs looks at those rows again.
    const RunLines before = std::exchange(lines_, lines);
    for (int row = 0; row < rowCount(); ++row) {
        const RunLine& old = before[static_cast<std::size_t>(row)];
        const RunLine& now = lines_[static_cast<std::size_t>(row)];
        if (old == now)
            continue;
        Q_EMIT dataChanged(index(row), index(row));
        if (!hasAttempts(now.folder))
            continue;
        if (const QModelIndex newest = index(0, 0, index(row)); newest.isValid())
            Q_EMIT dataChanged(newest, newest);
        if (hasNewAttempts(old, now))
            Q_EMIT attemptsWanted(now.folder);
    }
}

int RunListModel::rowOf(const QString& folder) const
{
    const auto found
        = std::find_if(lines_.begin(), lines_.end(), [&folder](const RunLine& line) { return line.folder == folder; });
    return found == lines_.end() ? -1 : static_cast<int>(found - lines_.begin());
}

void RunListModel::setAttempts(const QString& folder, const AttemptLines& attempts)
{
    const auto known = attempts_.find(folder);
    const QModelIndex run = index(rowOf(folder));
    if (known == attempts_.end() || !run.isValid())
        return;
    AttemptLines newestFirst(attempts.rbegin(), attempts.rend());
    const auto before = static_cast<int>(known->second.lines.size());
    const int more = static_cast<int>(newestFirst.size()) - before;
    if (more > 0)
        beginInsertRows(run, 0, more - 1);
    else if (more < 0)
        beginRemoveRows(run, 0, -more - 1);
    known->second = { std::move(newestFirst), lines_[static_cast<std::size_t>(run.row())].steps };
    if (more > 0)
        endInsertRows();
    else if (more < 0)
        endRemoveRows();
    if (const int rows = rowCount(run); rows > 0)
        Q_EMIT dataChanged(index(0, 0, run), index(rows - 1, 0, run));
}

// The id of an index is the row of the run above it, plus one; 0 for a run.
QModelIndex RunListModel::index(int row, int column, const QModelIndex& parent) const
{
    if (column != 0 || row < 0 || row >= rowCount(parent))
        return {};
    return createIndex(row, column, parent.isValid() ? static_cast<quintptr>(parent.row()) + 1 : 0);
}

QModelIndex RunListModel::parent(const QModelIndex& index) const
{
    return index.isValid() && index.internalId() > 0
        ? createIndex(static_cast<int>(index.internalId()) - 1, 0, quintptr(0))
        : QModelIndex();
}

const RunLine* RunListModel::runAt(const QModelIndex& index) const
{
    return index.isValid() && index.internalId() == 0 && index.row() < static_cast<int>(lines_.size())
        ? &lines_[static_cast<std::size_t>(index.row())]
        : nullptr;
}

const RunListModel::Attempts* RunListModel::attemptsAt(const QModelIndex& parent) const
{
    const RunLine* run = runAt(parent);
    const auto found = run == nullptr ? attempts_.end() : attempts_.find(run->folder);
    return found == attempts_.end() ? nullptr : &found->second;
}

int RunListModel::rowCount(const QModelIndex& parent) const
{
    if (!parent.isValid())
        return static_cast<int>(lines_.size());
    const Attempts* attempts = attemptsAt(parent);
    return attempts == nullptr ? 0 : static_cast<int>(attempts->lines.size());
}

int RunListModel::columnCount(const QModelIndex&) const { return 1; }

bool RunListModel::hasChildren(const QModelIndex& parent) const
{
    const RunLine* run = runAt(parent);
    return parent.isValid() ? run != nullptr && run->attempt > 0 : !lines_.empty();
}

bool RunListModel::canFetchMore(const QModelIndex& parent) const
{
    return hasChildren(parent) && parent.isValid() && attemptsAt(parent) == nullptr;
}

void RunListModel::fetchMore(const QModelIndex& parent)
{
    if (!canFetchMore(parent))
        return;
    const QString folder = runAt(parent)->folder;
    attempts_[folder] = {};
    Q_EMIT attemptsWanted(folder);
}

std::int64_t RunListModel::stepsOf(const RunLine& line, const Attempts& attempts, const AttemptLine& attempt)
{
    const bool goesOn = attempt.number == line.attempt && !attempt.endedWallNs;
    return attempt.steps + (goesOn ? std::max<std::int64_t>(0, line.steps - attempts.stepsOfRun) : 0);
}

QVariant RunListModel::attemptData(const RunLine& line, const Attempts& attempts, int row, int role) const
{
    const AttemptLine& attempt = attempts.lines[static_cast<std::size_t>(row)];
    const QString name = tr("Attempt %1").arg(attempt.number);
    const std::int64_t count = stepsOf(line, attempts, attempt);
    const QString steps = count == 1 ? tr("1 step") : tr("%1 steps").arg(countText(count));
    const QString subtitle = tr("%1, %2").arg(attemptTime(line, attempt), attemptState(line, attempt));
    const QStringList changes = changeTexts(attempt);
    switch (role) {
    case Qt::DisplayRole:
    case NameRole: return name;
    case Qt::ToolTipRole:
        return (QStringList { name, subtitle, coreWords(attempt.detail) } + changes)
            .filter(QRegularExpression(QStringLiteral(".")))
            .join(QLatin1Char('\n'));
    case Qt::AccessibleTextRole: return (QStringList { name, steps, subtitle } + changes).join(QStringLiteral(", "));
    case FolderRole: return line.folder;
    case SubtitleRole: return subtitle;
    case AttemptRole: return static_cast<qlonglong>(attempt.number);
    case StepsTextRole: return steps;
    case ChangesRole: return changes.join(QStringLiteral(", "));
    default: return {};
    }
}

QVariant RunListModel::data(const QModelIndex& index, int role) const
{
    if (const Attempts* attempts = attemptsAt(index.parent());
        attempts != nullptr && index.row() < static_cast<int>(attempts->lines.size()))
        return attemptData(*runAt(index.parent()), *attempts, index.row(), role);
    const RunLine* run = runAt(index);
    if (run == nullptr)
        return {};
    const RunLine& line = *run;
    const QString loss = std::isfinite(line.loss) ? lossText(line.loss, line.lossIsGone) : QString();
    switch (role) {
    case Qt::DisplayRole:
    case NameRole: return line.name;
    case Qt::ToolTipRole: return tipOf(line);
    case Qt::AccessibleTextRole:
        return QStringLiteral("%1, %2, %3, %4").arg(line.name, stateWord(line.state), runSubtitle(line), loss);
    case FolderRole: return line.folder;
    case SubtitleRole: return runSubtitle(line);
    case StateRole: return static_cast<int>(line.state);
    case LossRole: return line.loss;
    case LossTextRole: return loss;
    case SparklineRole: return QVariant::fromValue(QVector<double>(line.sparkline.begin(), line.sparkline.end()));
    case FilterRole:
        return QStringList { line.name, line.folder, stateWord(line.state), line.preset,
            QString::fromStdString(line.notes.group), QString::fromStdString(line.notes.note),
            tagsOf(line).join(QLatin1Char(' ')) }
            .join(QLatin1Char(' '));
    case TagsRole: return tagsOf(line);
    case GroupRole: return QString::fromStdString(line.notes.group);
    case ArchivedRole: return line.notes.archived;
    case AttemptRole: return 0;
    default: return {};
    }
}

} // namespace furrow
