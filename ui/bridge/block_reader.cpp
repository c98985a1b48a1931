#include "ui/bridge/block_reader.h"

#include "core/base/path.h"
#include "core/run/run_status.h"

namespace furrow {

namespace {

std::set<std::int64_t> preparedOf(const QString& folder, std::int64_t count)
{
    std::set<std::int64_t> prepared;
    auto ledger = openLedger(RunPaths(pathFromUtf8(folder.toStdString())));
    for (std::int64_t block = 0; ledger.ok() && block < count; ++block) {
        const auto row = ledger.value().block(block);
        if (row.ok() && !row.value().fileName.empty())
            prepared.insert(block);
    }
    return prepared;
}

} // namespace

BlockReader::BlockReader(QObject* parent)
    : QObject(parent)
{
    qRegisterMetaType<PreparedBlocksPtr>();
    pool_.setMaxThreadCount(1);
}

BlockReader::~BlockReader()
{
    ++newest_;
    pool_.clear();
    pool_.waitForDone();
}

void BlockReader::read(const QString& folder, std::int64_t count)
{
    ++newest_;
    pool_.clear();
    pool_.start([this, folder, count, mine = newest_.load()] {
        const auto prepared = std::make_shared<const std::set<std::int64_t>>(preparedOf(folder, count));
        QMetaObject::invokeMethod(
            this, [this, mine, prepared] {
                if (mine == newest_)
                    Q_EMIT blocksRead(prepared);
            },
            Qt::QueuedConnection);
    });
}

} // namespace furrow
