#include "ui/models/run_list_model.h"

#include "ui/models/words.h"

#include <QVector>
#include <algorithm>
#include <cmath>

namespace furrow {

RunListModel::RunListModel(QObject* parent)
    : QAbstractListModel(parent)
{
}

void RunListModel::reset(const RunLines& lines)
{
    const bool sameRuns = std::equal(lines.begin(), lines.end(), lines_.begin(), lines_.end(),
        [](const RunLine& a, const RunLine& b) { return a.folder == b.folder; });
    if (sameRuns) {
        lines_ = lines;
        if (!lines_.empty())
            Q_EMIT dataChanged(index(0), index(rowCount() - 1));
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
    case Qt::ToolTipRole: return line.problem.isEmpty() ? line.folder : line.folder + QLatin1Char('\n') + line.problem;
    case Qt::AccessibleTextRole: return QStringLiteral("%1, %2, %3, %4").arg(line.name, stateWord(line.state), runSubtitle(line), lossText);
    case FolderRole: return line.folder;
    case SubtitleRole: return runSubtitle(line);
    case StateRole: return static_cast<int>(line.state);
    case LossRole: return line.loss;
    case LossTextRole: return lossText;
    case SparklineRole: return QVariant::fromValue(QVector<double>(line.sparkline.begin(), line.sparkline.end()));
    case FilterRole: return line.name + QLatin1Char(' ') + line.folder + QLatin1Char(' ') + stateWord(line.state) + QLatin1Char(' ') + line.preset;
    default: return {};
    }
}

} // namespace furrow
