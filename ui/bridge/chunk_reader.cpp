#include "ui/bridge/chunk_reader.h"

#include "core/base/path.h"
#include "core/run/status/ledger_view.h"

#include <optional>

namespace furrow {

namespace {

std::optional<ChunkCell> cellOf(const QString& folder, ChunkId chunk)
{
    auto ledger = openLedger(RunPaths(pathFromUtf8(folder.toStdString())));
    if (!ledger.ok())
        return std::nullopt;
    auto cell = ledger.value().cell(chunk);
    return cell.ok() ? std::optional(cell.value()) : std::nullopt;
}

} // namespace

ChunkReader::ChunkReader(QObject* parent)
    : QObject(parent)
{
}

void ChunkReader::read(const QString& folder, ChunkId chunk)
{
    request_.start([folder, chunk](const auto&) { return cellOf(folder, chunk); },
        [this](const std::optional<ChunkCell>& cell) {
            if (cell)
                Q_EMIT cellRead(*cell);
        });
}

} // namespace furrow
