#include "ui/bridge/lost_reader.h"

#include "core/run/status/lost_causes.h"

namespace furrow {

LostReader::LostReader(QObject* parent)
    : QObject(parent)
{
}

void LostReader::read(const RunStatus& status)
{
    request_.start(
        [folder = status.folder, epochs = openEpochs(status.epochs)](const auto&) {
            auto ledger = openLedger(RunPaths(folder));
            const auto causes = ledger.ok() ? lostCauses(ledger.value(), epochs) : ledger.error();
            return causes.ok() ? causes.value() : LostCauses {};
        },
        [this](const LostCauses& causes) {
            Q_EMIT causesRead(std::make_shared<const std::vector<Message>>(inWords(causes)), causes.sum());
        });
}

} // namespace furrow
