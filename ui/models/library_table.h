#pragma once

#include "ui/bridge/run_feed.h"
#include "ui/models/table_model.h"

#include <QSortFilterProxyModel>

namespace furrow {

using LibraryTable = TableModel<RunLine>;

/// Figures of a run, then every setting: some 80 columns.
std::vector<TableColumn<RunLine>> libraryColumns();

/// Rows in which every word occurs: name, state, tags, note, preset or the value of a setting.
class LibraryTableFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    explicit LibraryTableFilter(QObject* parent = nullptr);
    void setWords(const QString& words);
    /// Call after the rows of the table changed.
    void reindex();

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    QStringList words_;
    std::vector<QString> texts_; // lower case, one a row
};

} // namespace furrow
