#include "ui/bridge/block_reader.h"

#include "core/base/path.h"
#include "core/run/status/run_status.h"

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
}

void BlockReader::read(const QString& folder, std::int64_t count)
{
    request_.start(
        [folder, count](
            const auto&) { return std::make_shared<const std::set<std::int64_t>>(preparedOf(folder, count)); },
        [this](const PreparedBlocksPtr& prepared) { Q_EMIT blocksRead(prepared); });
}

} // namespace furrow
