#include "ui/bridge/attempt_reader.h"

#include "core/base/path.h"
#include "core/run/folder/attempt_config.h"
#include "core/run/folder/run_file.h"
#include "core/run/status/run_status.h"

namespace furrow {

namespace {

AttemptLines attemptsOf(const QString& folder)
{
    const RunPaths paths(pathFromUtf8(folder.toStdString()));
    auto ledger = openLedger(paths);
    if (!ledger.ok())
        return {};
    const auto rows = ledger.value().attempts();
    const auto work = ledger.value().workOfAttempts();
    if (!rows.ok() || !work.ok())
        return {};
    const auto file = readRunFile(paths);
    AttemptLines attempts;
    for (const AttemptRow& row : rows.value()) {
        const auto known = work.value().find(row.id);
        attempts.push_back({ row.id.value, row.startedWallNs, row.endedWallNs, row.reason, row.detail,
            known == work.value().end() ? 0 : known->second.steps, {} });
    }
    if (!file.ok())
        return attempts;
    auto changed = changesByAttempt(rows.value(), file.value().config);
    for (std::size_t i = 0; i < attempts.size(); ++i)
        attempts[i].changes = std::move(changed[i]);
    return attempts;
}

} // namespace

AttemptReader::AttemptReader(QObject* parent)
    : QObject(parent)
{
}

void AttemptReader::read(const QString& folder)
{
    if (waiting_.contains(folder))
        return;
    waiting_.append(folder);
    if (waiting_.size() == 1)
        readNext();
}

void AttemptReader::readNext()
{
    request_.start(
        [folder = waiting_.front()](const auto&) { return std::make_shared<const AttemptLines>(attemptsOf(folder)); },
        [this](const AttemptLinesPtr& attempts) {
            const QString folder = waiting_.takeFirst();
            if (!waiting_.isEmpty())
                readNext();
            Q_EMIT attemptsRead(folder, attempts);
        });
}

} // namespace furrow
