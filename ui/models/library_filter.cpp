#include "ui/models/library_filter.h"

#include "ui/models/run_list_model.h"

namespace furrow {

LibraryFilter::LibraryFilter(QObject* parent)
    : QSortFilterProxyModel(parent)
{
    sort(0);
}

void LibraryFilter::setWords(const QString& words)
{
    words_.clear();
    tags_.clear();
    const QStringList all = words.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    for (const QString& word : all) {
        if (word.startsWith(QLatin1Char('#')))
            tags_.append(word.mid(1));
        else
            words_.append(word);
    }
    invalidateFilter();
}

void LibraryFilter::setArchivedShown(bool shown)
{
    archivedShown_ = shown;
    invalidateFilter();
}

bool LibraryFilter::filterAcceptsRow(int row, const QModelIndex& parent) const
{
    if (parent.isValid()) // attempts go with their run
        return true;
    const QModelIndex index = sourceModel()->index(row, 0, parent);
    if (!archivedShown_ && index.data(RunListModel::ArchivedRole).toBool())
        return false;
    if (!words_.isEmpty()) {
        const QString text = index.data(RunListModel::FilterRole).toString();
        for (const QString& word : words_) {
            if (!text.contains(word, Qt::CaseInsensitive))
                return false;
        }
    }
    if (!tags_.isEmpty()) {
        const QStringList own = index.data(RunListModel::TagsRole).toStringList();
        for (const QString& tag : tags_) {
            if (!own.contains(tag, Qt::CaseInsensitive))
                return false;
        }
    }
    return true;
}

bool LibraryFilter::lessThan(const QModelIndex& left, const QModelIndex& right) const
{
    const int order = QString::localeAwareCompare(
        left.data(RunListModel::GroupRole).toString(), right.data(RunListModel::GroupRole).toString());
    return order == 0 ? left.row() < right.row() : order < 0;
}

} // namespace furrow
