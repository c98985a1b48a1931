#include "ui/bridge/ledger_auditor.h"

#include "core/base/path.h"
#include "core/run/ledger_view.h"

namespace furrow {

LedgerAuditor::LedgerAuditor(QObject* parent)
    : QObject(parent)
{
    qRegisterMetaType<AuditPtr>();
}

void LedgerAuditor::audit(const QString& folder)
{
    busy_ = true;
    request_.start([folder](const auto&) { return std::make_shared<Result<AuditReport>>(furrow::audit(readableLedger(RunPaths(pathFromUtf8(folder.toStdString()))))); },
        [this](const std::shared_ptr<Result<AuditReport>>& report) {
            busy_ = false;
            if (report->ok())
                Q_EMIT audited(std::make_shared<const AuditReport>(std::move(*report).value()));
            else
                Q_EMIT failed(QString::fromStdString(report->error().message));
        });
}

} // namespace furrow
