#include "ui/models/run_list_model.h"

#include "ui/models/words.h"

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
    if (!line.problem.isEmpty())
        lines.append(line.problem);
    if (!line.notes.tags.empty())
        lines.append(QLatin1Char('#') + tagsOf(line).join(QStringLiteral(" #")));
    if (!line.notes.note.empty())
        lines.append(QString::fromStdString(line.notes.note));
    return lines.join(QLatin1Char('\n'));
}

} // namespace

RunListModel::RunListModel(QObject* parent)
    : QAbstractListModel(parent)
{
}

void RunListModel::reset(const RunLines& lines)
{
    const bool sameRuns = std::equal(lines.begin(), lines.end(), lines_.begin(), lines_.end(),
        [](const RunLine& a, const RunLine& b) { return a.folder == b.folder; });
    if (sameRuns) {
        // Only what changed: a filter over thousands of runs looks at those rows again.
        const RunLines before = std::exchange(lines_, lines);
        for (int row = 0; row < rowCount(); ++row) {
            if (!(before[static_cast<std::size_t>(row)] == lines_[static_cast<std::size_t>(row)]))
                Q_EMIT dataChanged(index(row), index(row));
        }
        return;
    }
    beginResetModel();
    lines_ = lines;
    endResetModel();
}

int RunListModel::rowOf(const QString& folder) const
{
    const auto found = std::find_if(lines_.begin(), lines_.end(), [&folder](const RunLine& line) { return line.folder == folder; });
    return found == lines_.end() ? -1 : static_cast<int>(found - lines_.begin());
}

int RunListModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(lines_.size());
}

QVariant RunListModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid() || index.row() >= rowCount())
        return {};
    const RunLine& line = lines_[static_cast<std::size_t>(index.row())];
    const QString lossText = std::isfinite(line.loss) ? fixedText(line.loss, 3) : QString();
    switch (role) {
    case Qt::DisplayRole:
    case NameRole: return line.name;
    case Qt::ToolTipRole: return tipOf(line);
    case Qt::AccessibleTextRole: return QStringLiteral("%1, %2, %3, %4").arg(line.name, stateWord(line.state), runSubtitle(line), lossText);
    case FolderRole: return line.folder;
    case SubtitleRole: return runSubtitle(line);
    case StateRole: return static_cast<int>(line.state);
    case LossRole: return line.loss;
    case LossTextRole: return lossText;
    case SparklineRole: return QVariant::fromValue(QVector<double>(line.sparkline.begin(), line.sparkline.end()));
    case FilterRole:
        return QStringList { line.name, line.folder, stateWord(line.state), line.preset, QString::fromStdString(line.notes.group), QString::fromStdString(line.notes.note), tagsOf(line).join(QLatin1Char(' ')) }.join(QLatin1Char(' '));
    case TagsRole: return tagsOf(line);
    case GroupRole: return QString::fromStdString(line.notes.group);
    case ArchivedRole: return line.notes.archived;
    default: return {};
    }
}

} // namespace furrow
