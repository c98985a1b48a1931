#include "ui/pages/chunk_rows.h"

#include <QItemSelectionModel>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <algorithm>

namespace furrow {

namespace {

const QSortFilterProxyModel& proxyOf(const QTableView& table)
{
    return *static_cast<const QSortFilterProxyModel*>(table.model());
}

/// Rows of the table, from the top.
std::vector<int> rowsOf(const QTableView& table, const ChunkModel& chunks, const std::vector<SelectedChunk>& selected)
{
    std::vector<ChunkId> wanted;
    for (const SelectedChunk& chunk : selected)
        wanted.push_back(chunk.id);
    std::sort(wanted.begin(), wanted.end());
    std::vector<int> rows;
    for (int row = 0; !wanted.empty() && row < chunks.rowCount(); ++row)
        if (std::binary_search(wanted.begin(), wanted.end(), chunks.rows()[static_cast<std::size_t>(row)].id))
            rows.push_back(proxyOf(table).mapFromSource(chunks.index(row, 0)).row());
    std::sort(rows.begin(), rows.end());
    return rows;
}

std::vector<int> markedRows(const QTableView& table)
{
    std::vector<int> rows;
    const QModelIndexList marked = table.selectionModel()->selectedRows();
    for (const QModelIndex& index : marked)
        rows.push_back(index.row());
    std::sort(rows.begin(), rows.end());
    return rows;
}

} // namespace

std::vector<SelectedChunk> markedChunks(const QTableView& table, const ChunkModel& chunks)
{
    std::vector<SelectedChunk> marked;
    const QModelIndexList rows = table.selectionModel()->selectedRows();
    for (const QModelIndex& index : rows) {
        const ChunkCell* cell = chunks.rowAt(proxyOf(table).mapToSource(index));
        if (cell == nullptr)
            continue;
        marked.push_back({ cell->id, cell->block, cell->column });
        if (index.row() == table.currentIndex().row())
            std::rotate(marked.begin(), marked.end() - 1, marked.end());
    }
    return marked;
}

void markChunks(QTableView& table, const ChunkModel& chunks, const std::vector<SelectedChunk>& selected)
{
    const std::vector<int> rows = rowsOf(table, chunks, selected);
    if (rows == markedRows(table))
        return;
    if (rows.empty())
        return table.selectionModel()->clear();
    QItemSelection marks;
    for (auto first = rows.begin(); first != rows.end();) { // neighbours together: there may be thousands
        auto end = std::next(first);
        while (end != rows.end() && *end == *std::prev(end) + 1)
            ++end;
        marks.append(QItemSelectionRange(
            table.model()->index(*first, 0), table.model()->index(*std::prev(end), table.model()->columnCount() - 1)));
        first = end;
    }
    table.selectionModel()->select(marks, QItemSelectionModel::ClearAndSelect);
    if (!std::binary_search(rows.begin(), rows.end(), table.currentIndex().row()))
        table.selectionModel()->setCurrentIndex(table.model()->index(rows.front(), 0), QItemSelectionModel::NoUpdate);
}

} // namespace furrow
