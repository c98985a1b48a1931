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
    pool_.setMaxThreadCount(1);
}

EpochReader::~EpochReader()
{
    ++newest_;
    pool_.clear();
    pool_.waitForDone();
}

void EpochReader::read(const QString& folder, std::int64_t epoch)
{
    ++newest_;
    pool_.clear();
    pool_.start([this, folder, epoch, mine = newest_.load()] {
        const auto cells = std::make_shared<const CellUpdate>(CellUpdate { epoch, true, cellsOf(folder, epoch) });
        QMetaObject::invokeMethod(
            this, [this, mine, cells] {
                if (mine == newest_)
                    Q_EMIT cellsRead(cells);
            },
            Qt::QueuedConnection);
    });
}

} // namespace furrow
