#pragma once

#include <QAbstractTableModel>
#include <functional>
#include <vector>

namespace furrow {

/// Roles that every table of the console answers beside Qt's own.
enum TableRole {
    SortRole = Qt::UserRole + 1, ///< the raw value, for sorting
    WorkerRole, ///< worker number whose colour and marker belong to the cell; absent: none
    StateRole, ///< RunState as int, for a glyph; absent: none
    RowRole, ///< first of the roles a model defines for itself
};

/// One column of a table of value structs.
template <typename Row> struct TableColumn {
    std::function<QString()> title; ///< called anew for each language
    std::function<QString(const Row&)> text;
    std::function<QVariant(const Row&)> sortValue; ///< empty: the text
    bool number = false; ///< right-aligned
    std::function<QVariant(const Row&, int role)> extra; ///< tooltips, colours, worker; may be empty
    std::function<QString()> tip; ///< of the title: what is counted; may be empty
};

/// A table over a vector of value structs. No logic: rows are replaced, appended or changed from outside.
template <typename Row> class TableModel : public QAbstractTableModel {
public:
    explicit TableModel(std::vector<TableColumn<Row>> columns, QObject* parent = nullptr)
        : QAbstractTableModel(parent)
        , columns_(std::move(columns))
    {
    }

    const std::vector<Row>& rows() const { return rows_; }
    const Row* rowAt(const QModelIndex& index) const
    {
        return index.isValid() && index.row() < static_cast<int>(rows_.size())
            ? &rows_[static_cast<std::size_t>(index.row())]
            : nullptr;
    }

    /// Replaces everything. With the same number of rows only the values change, so that selections stay.
    void reset(std::vector<Row> rows)
    {
        if (rows.size() == rows_.size()) {
            rows_ = std::move(rows);
            if (!rows_.empty())
                Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
            return;
        }
        beginResetModel();
        rows_ = std::move(rows);
        endResetModel();
    }
    void append(const std::vector<Row>& rows)
    {
        if (rows.empty())
            return;
        beginInsertRows({}, rowCount(), rowCount() + static_cast<int>(rows.size()) - 1);
        rows_.insert(rows_.end(), rows.begin(), rows.end());
        endInsertRows();
    }
    void change(int row, Row value)
    {
        rows_[static_cast<std::size_t>(row)] = std::move(value);
        Q_EMIT dataChanged(index(row, 0), index(row, columnCount() - 1));
    }
    /// Removes rows at the front so that at most `most` stay.
    void keepLast(int most)
    {
        const int surplus = rowCount() - most;
        if (surplus <= 0)
            return;
        beginRemoveRows({}, 0, surplus - 1);
        rows_.erase(rows_.begin(), rows_.begin() + surplus);
        endRemoveRows();
    }

    int rowCount(const QModelIndex& parent = {}) const override
    {
        return parent.isValid() ? 0 : static_cast<int>(rows_.size());
    }
    int columnCount(const QModelIndex& parent = {}) const override
    {
        return parent.isValid() ? 0 : static_cast<int>(columns_.size());
    }
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override
    {
        if (orientation != Qt::Horizontal || section < 0 || section >= columnCount())
            return {};
        const TableColumn<Row>& column = columns_[static_cast<std::size_t>(section)];
        if (role == Qt::DisplayRole)
            return column.title();
        if (role == Qt::ToolTipRole && column.tip)
            return column.tip();
        if (role == Qt::TextAlignmentRole)
            return QVariant::fromValue(
                Qt::Alignment((column.number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
        return {};
    }
    QVariant data(const QModelIndex& index, int role) const override
    {
        const Row* row = rowAt(index);
        if (row == nullptr || index.column() >= columnCount())
            return {};
        const TableColumn<Row>& column = columns_[static_cast<std::size_t>(index.column())];
        if (column.extra) {
            const QVariant value = column.extra(*row, role);
            if (value.isValid())
                return value;
        }
        switch (role) {
        case Qt::DisplayRole:
        case Qt::AccessibleTextRole: return column.text(*row);
        case SortRole: return column.sortValue ? column.sortValue(*row) : QVariant(column.text(*row));
        case Qt::TextAlignmentRole:
            return QVariant::fromValue(
                Qt::Alignment((column.number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
        default: return {};
        }
    }

private:
    std::vector<TableColumn<Row>> columns_;
    std::vector<Row> rows_;
};

} // namespace furrow
