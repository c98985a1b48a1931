#pragma once

#include "core/run/audit/run_audit.h"
#include "ui/bridge/newest_request.h"

#include <QMetaType>
#include <QObject>
#include <QString>
#include <memory>

namespace furrow {

using AuditPtr = std::shared_ptr<const AuditReport>;

/// Audits a run away from the GUI thread. Only the newest request is answered. Lives on the GUI thread.
class LedgerAuditor : public QObject {
    Q_OBJECT
public:
    explicit LedgerAuditor(QObject* parent = nullptr);
    ~LedgerAuditor() override; ///< like stop()
    /// Instead of an audit that is under way.
    void audit(const QString& folder, AuditDepth depth);
    /// No answer comes any more, and reading ends, inside a large file too.
    void stop();
    bool isBusy() const { return busy_; }

Q_SIGNALS:
    void audited(const furrow::AuditPtr& report);
    void failed(const furrow::Message& message);
    void progressed(const furrow::Message& doing, double fraction); ///< some times a second; of `doing`, 0..1

private:
    std::stop_source stopping_;
    NewestRequest request_ { *this };
    bool busy_ = false;
};

} // namespace furrow

Q_DECLARE_METATYPE(furrow::AuditPtr)
