#include "ui/bridge/checkpoint_reader.h"

#include "core/base/path.h"
#include "core/run/status/run_status.h"

#include <algorithm>

namespace furrow {

namespace {

std::vector<SupervisorLedger::CheckpointRow> usableOf(const QString& folder)
{
    auto ledger = openLedger(RunPaths(pathFromUtf8(folder.toStdString())));
    if (!ledger.ok())
        return {};
    auto rows = ledger.value().checkpoints();
    if (!rows.ok())
        return {};
    std::erase_if(rows.value(), [](const auto& row) { return row.removed || row.damaged; });
    return std::move(rows).value();
}

} // namespace

CheckpointReader::CheckpointReader(QObject* parent)
    : QObject(parent)
{
    qRegisterMetaType<CheckpointRowsPtr>();
}

void CheckpointReader::read(const QString& folder)
{
    request_.start(
        [folder](const auto&) {
            return std::make_shared<const std::vector<SupervisorLedger::CheckpointRow>>(usableOf(folder));
        },
        [this](const CheckpointRowsPtr& rows) { Q_EMIT checkpointsRead(rows); });
}

} // namespace furrow
