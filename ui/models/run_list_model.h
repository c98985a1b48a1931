#pragma once

#include "ui/bridge/run_feed.h"

#include <QAbstractListModel>

namespace furrow {

/// The library: one row for each run, for a delegate that draws glyph, name, subtitle, sparkline and loss.
class RunListModel : public QAbstractListModel {
    Q_OBJECT
public:
    enum Role {
        FolderRole = Qt::UserRole + 1,
        NameRole,
        SubtitleRole,
        StateRole, ///< RunState as int
        LossRole, ///< double
        LossTextRole, ///< "3.438", "" without one
        SparklineRole, ///< QVector<double>
        FilterRole, ///< everything a filter may look for
        TagsRole, ///< QStringList
        GroupRole, ///< "" without one
        ArchivedRole, ///< bool
    };
    explicit RunListModel(QObject* parent = nullptr);

    /// Rows that only changed their values stay where they are, so selection and scroll position survive.
    void reset(const RunLines& lines);
    const RunLines& lines() const { return lines_; }
    int rowOf(const QString& folder) const; ///< -1: not there

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;

private:
    RunLines lines_;
};

} // namespace furrow
