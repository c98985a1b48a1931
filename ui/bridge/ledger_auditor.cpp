#include "ui/bridge/ledger_auditor.h"

#include "core/base/path.h"
#include "core/run/run_paths.h"

namespace furrow {

LedgerAuditor::LedgerAuditor(QObject* parent)
    : QObject(parent)
{
    qRegisterMetaType<AuditPtr>();
    pool_.setMaxThreadCount(1);
}

LedgerAuditor::~LedgerAuditor()
{
    ++newest_;
    pool_.clear();
    pool_.waitForDone();
}

void LedgerAuditor::audit(const QString& folder)
{
    ++newest_;
    pool_.clear();
    busy_ = true;
    pool_.start([this, folder, mine = newest_.load()] {
        if (mine != newest_)
            return;
        auto report = furrow::audit(RunPaths(pathFromUtf8(folder.toStdString())).tracker());
        QMetaObject::invokeMethod(
            this,
            [this, mine, report = std::make_shared<Result<AuditReport>>(std::move(report))] {
                if (mine != newest_)
                    return;
                busy_ = false;
                if (report->ok())
                    Q_EMIT audited(std::make_shared<const AuditReport>(std::move(*report).value()));
                else
                    Q_EMIT failed(QString::fromStdString(report->error().message));
            },
            Qt::QueuedConnection);
    });
}

} // namespace furrow
