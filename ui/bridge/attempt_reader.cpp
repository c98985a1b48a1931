#include "ui/bridge/attempt_reader.h"

#include "core/base/path.h"
#include "core/run/run_status.h"

namespace furrow {

namespace {

constexpr int kBatch = 20'000; // claims between two looks at whether anybody still waits

/// Adds the steps of each ended claim to its attempt.
void addSteps(LedgerReader& ledger, AttemptLines& attempts, const NewestRequest::IsWanted& isWanted)
{
    std::int64_t last = 0;
    while (isWanted()) {
        const auto claims = ledger.claimsSince(last, kBatch);
        if (!claims.ok() || claims.value().empty())
            return;
        for (const ClaimRow& claim : claims.value()) {
            const auto at = static_cast<std::size_t>(claim.attempt.value - 1);
            if (claim.endedWallNs != 0 && claim.tokens > 0 && at < attempts.size())
                attempts[at].steps += claim.lastStep - claim.firstStep + 1;
        }
        last = claims.value().back().claimId;
    }
}

AttemptLines attemptsOf(const QString& folder, const NewestRequest::IsWanted& isWanted)
{
    auto ledger = openLedger(RunPaths(pathFromUtf8(folder.toStdString())));
    if (!ledger.ok())
        return {};
    const auto rows = ledger.value().attempts();
    if (!rows.ok())
        return {};
    AttemptLines attempts;
    for (const AttemptRow& row : rows.value())
        attempts.push_back({ row.id.value, row.startedWallNs, row.endedWallNs, row.reason, QString::fromStdString(row.detail), 0 });
    addSteps(ledger.value(), attempts, isWanted);
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
    request_.start([folder = waiting_.front()](const NewestRequest::IsWanted& isWanted) { return std::make_shared<const AttemptLines>(attemptsOf(folder, isWanted)); },
        [this](const AttemptLinesPtr& attempts) {
            const QString folder = waiting_.takeFirst();
            if (!waiting_.isEmpty())
                readNext();
            Q_EMIT attemptsRead(folder, attempts);
        });
}

} // namespace furrow
