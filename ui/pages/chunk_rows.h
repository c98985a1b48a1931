#pragma once

#include "ui/models/run_tables.h"
#include "ui/models/selection_model.h"

#include <vector>

class QTableView;

namespace furrow {

/// The chunks of the rows that are marked in a sorted table of `chunks`, the current row first.
std::vector<SelectedChunk> markedChunks(const QTableView& table, const ChunkModel& chunks);

/// Marks the rows of these chunks and no others. To be called after each reset of `chunks` and each change of the
/// selection: a model replaces rows in place, and a row that stayed marked would be that of another chunk.
void markChunks(QTableView& table, const ChunkModel& chunks, const std::vector<SelectedChunk>& selected);

} // namespace furrow
