#include "ui/bridge/epoch_reader.h"

#include "core/base/path.h"

namespace furrow {

namespace {

std::vector<ChunkCell> cellsOf(const QString& folder, std::int64_t epoch)
{
    if (epoch < 0)
        return {};
    auto ledger = openLedger(RunPaths(pathFromUtf8(folder.toStdString())));
    if (!ledger.ok())
        return {};
    auto cells = ledger.value().cells(epoch);
    return cells.ok() ? std::move(cells).value() : std::vector<ChunkCell> {};
}

} // namespace

EpochReader::EpochReader(QObject* parent)
    : QObject(parent)
{
}

void EpochReader::read(const QString& folder, std::int64_t epoch)
{
    request_.start(
        [folder, epoch](const auto&) {
            return std::make_shared<const CellUpdate>(CellUpdate { epoch, true, cellsOf(folder, epoch) });
        },
        [this](const CellsPtr& cells) { Q_EMIT cellsRead(cells); });
}

} // namespace furrow
