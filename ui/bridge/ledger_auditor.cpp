#include "ui/bridge/ledger_auditor.h"

#include "core/base/path.h"

#include <QElapsedTimer>

namespace furrow {

namespace {

constexpr qint64 kBetweenWordsMs = 200;

} // namespace

LedgerAuditor::LedgerAuditor(QObject* parent)
    : QObject(parent)
{
    qRegisterMetaType<AuditPtr>();
}

LedgerAuditor::~LedgerAuditor() { stopping_.request_stop(); }

void LedgerAuditor::stop()
{
    request_.cancel();
    stopping_.request_stop();
    stopping_ = {};
    busy_ = false;
}

void LedgerAuditor::audit(const QString& folder, AuditDepth depth)
{
    stop();
    busy_ = true;
    const RunPaths paths(pathFromUtf8(folder.toStdString()));
    request_.start(
        [this, paths, depth, stop = stopping_.get_token()](const NewestRequest::IsWanted& isWanted) {
            QElapsedTimer quiet;
            AuditWatch watch { stop, [this, isWanted, &quiet](const AuditProgress& progress) {
                                  if (!isWanted() || (quiet.isValid() && quiet.elapsed() < kBetweenWordsMs))
                                      return;
                                  quiet.start();
                                  QMetaObject::invokeMethod(this, [this, isWanted, progress] {
                                      if (isWanted())
                                          Q_EMIT progressed(progress.doing, progress.fraction);
                                  });
                              } };
            return std::make_shared<Result<AuditReport>>(auditRun(paths, depth, watch));
        },
        [this](const std::shared_ptr<Result<AuditReport>>& report) {
            busy_ = false;
            if (report->ok())
                Q_EMIT audited(std::make_shared<const AuditReport>(std::move(*report).value()));
            else
                Q_EMIT failed(report->error().message);
        });
}

} // namespace furrow
