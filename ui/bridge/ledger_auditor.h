#pragma once

#include "core/tracker/audit.h"
#include "ui/bridge/newest_request.h"

#include <QMetaType>
#include <QObject>
#include <QString>
#include <memory>

namespace furrow {

using AuditPtr = std::shared_ptr<const AuditReport>;

/// Audits the ledger of a run away from the GUI thread. Only the newest request is answered. Lives on the GUI thread.
class LedgerAuditor : public QObject {
    Q_OBJECT
public:
    explicit LedgerAuditor(QObject* parent = nullptr);
    void audit(const QString& folder);
    bool isBusy() const { return busy_; }

Q_SIGNALS:
    void audited(const furrow::AuditPtr& report);
    void failed(const QString& message);

private:
    NewestRequest request_ { *this };
    bool busy_ = false;
};

} // namespace furrow

Q_DECLARE_METATYPE(furrow::AuditPtr)
